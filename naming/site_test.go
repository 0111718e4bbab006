package naming

import "testing"

func TestSiteOf(t *testing.T) {
	for origin, want := range map[string]string{
		"https://example.com":            "example.com",
		"https://a.b.example.com":        "example.com",
		"http://example.com:8080":        "example.com",
		"https://shop.example.co.uk":     "example.co.uk",
		"https://shop.example.com.":      "example.com", // the same owner's
		"https://shop.example.com.:8443": "example.com",
		"https://ann.github.io":          "ann.github.io", // anybody can have one
		"https://co.uk":                  "co.uk",
		"http://localhost:5173":          "localhost:5173",
		"http://localhost":               "localhost",
		"https://localhost":              "localhost",
		"http://intranet":                "intranet",
		"http://127.0.0.1:3000":          "127.0.0.1:3000",
		"https://10.1.2.3":               "10.1.2.3",
		"http://[::1]:3000":              "0_0_0_0_0_0_0_1:3000",
		"https://http_x.example.com":     "example.com",
		"https://www.xn--bcher-kva.test": "xn--bcher-kva.test",
	} {
		for _, verified := range []bool{true, false} {
			d, err := DomainOf(origin, verified)
			if err != nil {
				t.Fatal(err)
			}
			if !verified {
				want = "unverified_" + want
			}
			if got := SiteOf(d); got != want {
				t.Errorf("%s (%s) is of site %q, want %q", origin, d, got, want)
			}
		}
	}
}

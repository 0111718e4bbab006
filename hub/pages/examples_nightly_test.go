//go:build nightly

package pages_test

func init() {
	exampleBrowsers = append(exampleBrowsers, exampleBrowser{native: true}, exampleBrowser{extension: true})
}

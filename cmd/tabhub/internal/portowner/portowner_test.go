package portowner

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"service":"tabhub"}`)
	}))
	defer s.Close()
	got := Describe(s.Listener.Addr().String())
	if !strings.HasSuffix(got, "a tabhub") {
		t.Errorf("a tabhub is called %q", got)
	}
	if want := fmt.Sprintf("process %d", os.Getpid()); runtime.GOOS == "linux" && !strings.Contains(got, want) {
		t.Errorf("%q does not name %s", got, want)
	}
}

func TestDescribeSilentProgram(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if got := Describe(ln.Addr().String()); strings.HasSuffix(got, "a tabhub") {
		t.Errorf("a program that does not answer is called %q", got)
	}
}

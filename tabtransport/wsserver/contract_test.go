package wsserver_test

import (
	"context"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

func TestWebSocketsKeepTheContract(t *testing.T) {
	tabtest.Run(t, func(t *testing.T) (tabtransport.TabHubTransport, tabtest.Dial) {
		srv := wsserver.New(wsserver.Options{})
		t.Cleanup(func() { srv.Close(context.Background()) })
		return srv.Transport(spec.LocalUser), wstest.Serve(t, srv.Tabs()).TabDial("/")
	})
}

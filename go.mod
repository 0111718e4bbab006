module tabhub

go 1.26.0

require (
	code.dny.dev/ssrf v0.3.0 // which addresses are public, for documents of clients
	github.com/MicahParks/jwkset v0.11.0 // a key set that refreshes, for jwks
	github.com/MicahParks/keyfunc/v3 v3.8.0 // keys of JWTs from a key set
	github.com/aymanbagabas/go-udiff v0.4.1 // the diff that install shows
	github.com/chromedp/cdproto v0.159.0 // tests
	github.com/chromedp/chromedp v0.22.1 // tests: drives a real Chromium
	github.com/cli/browser v1.3.0 // opens the dashboard
	github.com/go-playground/validator/v10 v10.30.6 // checks what tabs and clients send
	github.com/golang-jwt/jwt/v5 v5.3.1 // --auth jwt
	github.com/google/uuid v1.6.0 // ids
	github.com/gorilla/websocket v1.5.3 // tabs, browsers, relay
	github.com/invopop/jsonschema v0.14.0 // generates spec/schema
	github.com/jedib0t/go-pretty/v6 v6.8.3 // tables in a terminal
	github.com/jmespath/go-jmespath v0.4.0 // reads the expressions of packs
	github.com/mark3labs/mcp-go v1.2.1 // MCP revisions: methods, headers, types of the handshake
	github.com/modelcontextprotocol/go-sdk v1.8.0 // tests: an MCP client by others
	github.com/nats-io/nats-server/v2 v2.15.2 // tests
	github.com/nats-io/nats.go v1.55.0 // what nodes of a cluster share
	github.com/pelletier/go-toml/v2 v2.4.3 // reads tabhub.toml, with the line of a mistake
	github.com/prometheus/client_golang v1.25.0 // /metrics
	github.com/rogpeppe/go-internal v1.16.0 // tests: scripts and transcripts
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests: another opinion on schemas
	github.com/spf13/cobra v1.10.2 // commands
	github.com/spf13/pflag v1.0.10 // flags
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f // edits configuration files, comments kept
	github.com/yosida95/uritemplate/v3 v3.0.2 // resource templates
	go.etcd.io/bbolt v1.5.0 // the store
	go.yaml.in/yaml/v3 v3.0.5 // reads goose's configuration
	golang.org/x/mod v0.41.0 // compares versions of hub and bridge
	golang.org/x/net v0.62.0 // domain names in punycode, public suffixes
	golang.org/x/sys v0.49.0 // locks, process groups
	golang.org/x/term v0.47.0 // is this a terminal
	golang.org/x/time v0.16.0 // rate limits
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/antithesishq/antithesis-sdk-go v0.8.0-default-no-op // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/buger/jsonparser v1.1.2 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/evanw/esbuild v0.28.2 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/nats-io/jwt/v2 v2.8.2 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/pb33f/ordered-map/v2 v2.3.1 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	go.yaml.in/yaml/v4 v4.0.0-rc.2 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/telemetry v0.0.0-20260924152758-ed294f943157 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	golang.org/x/vuln v1.8.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	honnef.co/go/tools v0.8.2 // indirect
)

tool (
	github.com/evanw/esbuild/cmd/esbuild
	golang.org/x/vuln/cmd/govulncheck
	honnef.co/go/tools/cmd/staticcheck
)

ignore node_modules

package clientconf

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"no file", "", `--- /dev/null
+++ mcp.json
@@ -0,0 +1,8 @@
+{
+  "mcpServers": {
+    "tabhub": {
+      "command": "/opt/tabhub",
+      "args": ["stdio", "--data-dir", "/d"]
+    }
+  }
+}
`},
		{"neighbours", "{\n  // key: secret\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\", \"args\": [\"--key=secret\"], \"pin\": 4711, \"on\": true} /* secret */\n  }\n}\n", `--- mcp.json
+++ mcp.json
@@ -1,6 +1,10 @@
 {
   // ***
   "mcpServers": {
+    "tabhub": {
+      "command": "/opt/tabhub",
+      "args": ["stdio", "--data-dir", "/d"]
+    },
     "a": {"command": "***", "args": ["***"], "pin": "***", "on": true} /* *** */
   }
 }
`},
		{"an older entry with a key", "{\r\n\t\"mcpServers\": {\"tabhub\": {\r\n\t\t\"command\": \"/old\",\r\n\t\t\"args\": [\"stdio\"],\r\n\t\t\"env\": {\"TABHUB_TOKEN\": \"secret\"}, // secret\r\n\t}},\r\n}\r\n", `--- mcp.json
+++ mcp.json
@@ -1,7 +1,7 @@
 {
 	"mcpServers": {"tabhub": {
-		"command": "/old",
-		"args": ["stdio"],
+		"command": "/opt/tabhub",
+		"args": ["stdio", "--data-dir", "/d"],
 		"env": {"TABHUB_TOKEN": "***"}, // ***
 	}},
 }
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := named(t, "cursor")
			after, err := client.Add([]byte(c.before), "tabhub", entry)
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.Diff("mcp.json", "tabhub", []byte(c.before), after)
			if err != nil || got != c.want {
				t.Errorf("got\n%s\nwant\n%s\n%v", got, c.want, err)
			}
			if strings.Contains(got, "secret") || strings.Contains(got, "4711") {
				t.Error("it shows a secret")
			}
		})
	}
}

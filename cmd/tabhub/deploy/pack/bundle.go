package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tabhub/tabtransport/extension"
)

const description = "One MCP server for every tab you have open: the tools of web pages, for your agent."

// systems are those of the bundle, by the names of Node.js. A manifest tells systems apart,
// not processors: Windows on ARM runs the program for amd64, and who has Linux on ARM takes
// an archive.
var systems = []struct{ name, built, program string }{
	{"darwin", "universal_darwin_all", "tabhub"},
	{"linux", "tabhub_linux_amd64_v1", "tabhub"},
	{"win32", "tabhub_windows_amd64_v1", "tabhub.exe"},
}

// bundleFiles returns the files of the bundle, by name, and which of them are programs: for
// all systems, or the one that is named.
func bundleFiles(version, repository, system, dist string) (files map[string][]byte, programs []string, err error) {
	files = map[string][]byte{}
	platforms, overrides := []string{}, map[string]any{}
	for _, s := range systems {
		if system != "" && system != s.name {
			continue
		}
		program := "server/" + s.name + "/" + s.program
		if files[program], err = os.ReadFile(filepath.Join(dist, s.built, s.program)); err != nil {
			return nil, nil, fmt.Errorf("bundle: %w", err)
		}
		programs, platforms = append(programs, program), append(platforms, s.name)
		overrides[s.name] = map[string]string{"command": "${__dirname}/" + program}
	}
	if len(programs) == 0 {
		return nil, nil, fmt.Errorf("bundle: there is no system %q", system)
	}
	url := "https://github.com/" + repository
	files["manifest.json"], err = json.MarshalIndent(map[string]any{
		"manifest_version": "0.3",
		"name":             "tabhub",
		"display_name":     "tabhub",
		"version":          version,
		"description":      description,
		"long_description": "Web pages offer tools. tabhub collects those of all tabs of your browser and serves them to this app. " +
			"It needs its extension in your browser; `tabhub browser pair`, or the extension's settings, introduce the two to each other.",
		"author":        map[string]string{"name": "The tabhub authors", "url": url},
		"repository":    map[string]string{"type": "git", "url": url},
		"documentation": url + "#readme",
		"support":       url + "/issues",
		"icon":          "icon.png",
		"license":       "MIT",
		"keywords":      []string{"browser", "tabs", "webmcp"},
		"server": map[string]any{
			"type":        "binary",
			"entry_point": programs[0],
			"mcp_config": map[string]any{
				"command": "${__dirname}/" + programs[0],
				"args":    []string{"stdio"},
				// An empty one is the system's place for data.
				"env":                map[string]string{"TABHUB_DATA_DIR": "${user_config.data_dir}"},
				"platform_overrides": overrides,
			},
		},
		"tools_generated":   true,
		"prompts_generated": true,
		"compatibility":     map[string]any{"platforms": platforms},
		"user_config": map[string]any{"data_dir": map[string]any{
			"type": "directory", "title": "Data directory", "required": false, "default": "",
			"description": "Where tabhub keeps what it knows. Leave it empty to share one hub with your other apps and the command tabhub.",
		}},
	}, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	store, err := extension.ForStore(version)
	if err != nil {
		return nil, nil, err
	}
	files["icon.png"] = store["icons/128.png"]
	for _, name := range []string{"LICENSE", "README.md"} {
		if files[name], err = os.ReadFile(name); err != nil {
			return nil, nil, fmt.Errorf("bundle: %w", err)
		}
	}
	return files, programs, nil
}

// registryEntry is the server.json with which the bundle is published in the MCP registry.
func registryEntry(version, owner, name, file, sum string) any {
	url := "https://github.com/" + owner + "/" + name
	return map[string]any{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        "io.github." + owner + "/" + name,
		"title":       "tabhub",
		"description": description,
		"version":     version,
		"repository":  map[string]string{"url": url, "source": "github"},
		"packages": []any{map[string]any{
			"registryType": "mcpb",
			"identifier":   url + "/releases/download/v" + version + "/" + file,
			"fileSha256":   sum,
			"version":      version,
			"transport":    map[string]string{"type": "stdio"},
		}},
	}
}

// Says what web-ext's linter finds in the extension for stores, which is named.
import { execFileSync } from "node:child_process";

// The linter is that of Firefox's store. It asks for what only Firefox knows, in an extension
// that is for Chromium alone.
const firefox = [
	"ADDON_ID_REQUIRED", // browser_specific_settings.gecko.id
	"BACKGROUND_SERVICE_WORKER_NOFALLBACK", // background.scripts, in the place of a service worker
	"MISSING_DATA_COLLECTION_PERMISSIONS", // browser_specific_settings.gecko.data_collection_permissions
];

let text;
try {
	text = execFileSync("addons-linter", ["--output", "json", process.argv[2]], { encoding: "utf8" });
} catch (e) {
	if (!e.stdout) throw e;
	text = e.stdout; // it ends so when it has found errors
}
const found = JSON.parse(text);
const all = [...found.errors, ...found.warnings, ...found.notices];
const ours = all.filter(({ code }) => !firefox.includes(code));
for (const { _type, code, message, file, line } of ours) console.error(`${_type} ${code}: ${message} (${file}:${line})`);
console.log(`${all.length - ours.length} findings about Firefox, ${ours.length} others`);
process.exitCode = ours.length ? 1 : 0;

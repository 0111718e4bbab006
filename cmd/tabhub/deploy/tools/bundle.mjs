// Starts the program of a bundle as a host does, and lists its tools over stdio:
// bundle.mjs BUNDLE HOME, of which the first is an unpacked bundle, the second a directory for
// what the program writes.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb/node";

const [bundle, HOME] = process.argv.slice(2);
mkdirSync(HOME, { recursive: true });
const manifest = JSON.parse(readFileSync(`${bundle}/manifest.json`, "utf8"));
const config = await getMcpConfigForManifest({ manifest, extensionPath: bundle, systemDirs: {}, userConfig: {}, pathSeparator: "/" });
const env = { PATH: process.env.PATH, HOME, ...config.env };
const server = spawn(config.command, config.args, { env, stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();

const say = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
async function ask(id, method, params) {
	say({ id, method, params });
	for (;;) {
		const { value, done } = await lines.next();
		if (done) throw new Error(`the program has ended without an answer to ${method}`);
		const answer = JSON.parse(value);
		if (answer.id !== id) continue;
		if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
		return answer.result;
	}
}

const { serverInfo } = await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "release", version: "1" } });
say({ method: "notifications/initialized" });
const { tools } = await ask(2, "tools/list", {});
const names = tools.map(({ name }) => name);
if (!names.includes("proxy")) throw new Error(`the tools are ${names}`);
console.log(`${manifest.name} ${manifest.version} is ${serverInfo.name} ${serverInfo.version} with the tools ${names.join(", ")}`);
server.stdin.end();
execFileSync(config.command, ["stop"], { env });

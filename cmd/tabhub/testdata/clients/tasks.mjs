// Usage: node tasks.mjs page | call | resume REFERENCE | cancel REFERENCE
//
// page joins a tab that comes back over lost connections: its tool works until a line
// comes in, and it prints each call that it begins. call has it called by the official client of tasks, over
// Streamable HTTP, and prints the reference of the task. resume takes one up, however often the
// connection is lost, and prints its answer; cancel cancels it. TABHUB_URL and TABHUB_TOKEN say where the hub is.
import { sleep } from './tab.mjs';

const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;
const [mode, argument] = process.argv.slice(2);

/** A page as /tab.js makes one: it knows its calls by their ids, and holds their answers. */
function page() {
  const session = crypto.randomUUID();
  const running = new Map();
  const held = new Map();
  let runs = 0;
  const connect = () => {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + '/tabs', { protocols: 'tabhub.v1' });
    const send = (message) => socket.readyState === 1 && socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    let gone = false;
    const again = () => {
      if (!gone) setTimeout(connect, 50);
      gone = true;
    };
    socket.onclose = socket.onerror = again;
    const late = setTimeout(() => (again(), socket.close()), 5_000); // as /tab.js has it
    socket.onopen = () => send({ id: 'h', method: 'browser/hello', params: { protocolVersion: 'tabhub.v1', tabKey: 'works', session, token, capabilities: ['resume'] } });
    socket.onmessage = async ({ data }) => {
      const { id, method, params, error } = JSON.parse(data);
      if (id === 'h') {
        clearTimeout(late);
        if (error) throw new Error(error.message);
        const tools = [{ name: 'work', description: 'Works', inputSchema: { type: 'object' } }];
        send({ id: 'r', method: 'browser/registerTools', params: { tools, tabUrl: 'https://works.example.com/' } });
        for (const answer of held.values()) send(answer);
      } else if (id === 'r') console.log('ready');
      else if (method === 'browser/ping') send({ id, result: {} });
      else if (method === 'browser/cancel') running.get(params.requestId)?.();
      else if (method === 'browser/executeTool') {
        if (held.has(id)) send(held.get(id));
        else if (params.toolName !== 'work') running.has(id) || send({ id, error: { code: -32001, message: 'no such tool' } });
        else if (!running.has(id)) {
          const run = ++runs;
          console.log(`begun ${run}`);
          const done = await new Promise((end) => {
            finish = () => end(true);
            running.set(id, () => end(false));
          });
          running.delete(id);
          console.log(done ? `ended ${run}` : `cancelled ${run}`);
          if (!done) return;
          held.set(id, { id, result: { success: true, payload: { content: [{ type: 'text', text: `run ${run}` }] } } });
          current(held.get(id));
        }
      }
    };
    current = send;
  };
  let current;
  let finish;
  connect();
  process.stdin.on('data', () => finish());
  process.stdin.on('end', () => process.exit(0));
}

const framing = {
  protocolVersion: '2026-07-28', clientInfo: { name: 'tasks', version: '1' }, clientCapabilities: { elicitation: {} },
};

/** A session of the official client of tasks, over a client of the official SDK. */
async function open() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { createTaskSessionFromClient } = await import('@modelcontextprotocol/ext-tasks/client');
  const client = new Client(framing.clientInfo, { capabilities: framing.clientCapabilities, versionNegotiation: { mode: { pin: framing.protocolVersion } } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return createTaskSessionFromClient(client, { endpointId: 'tabhub', rawDispatch, v2RequestFraming: framing });
}

let last = 0;
let lost = false; // the latest request had no answer

function post(request, signal) {
  const headers = {
    Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': framing.protocolVersion, 'Mcp-Method': request.method,
  };
  const name = request.params.taskId ?? request.params.name;
  if (name) headers['Mcp-Name'] = name;
  return fetch(new URL('/mcp', url), { method: 'POST', headers, signal, body: JSON.stringify({ ...request, jsonrpc: '2.0', id: ++last }) });
}

/** The messages of an answer, be it one or a stream. */
async function* messages(response) {
  if (!response.headers.get('content-type').startsWith('text/event-stream')) {
    yield response.json();
    return;
  }
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const data = text.slice(0, end).split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n');
      if (data) yield JSON.parse(data);
    }
  }
}

async function rawDispatch(request, { signal } = {}) {
  lost = true;
  for await (const message of messages(await post(request, signal))) {
    lost = false;
    if (message.error) return { kind: 'error', error: message.error };
    if (message.result) return { kind: 'result', result: message.result };
  }
  throw new Error('the connection was lost');
}

async function call() {
  const session = await open();
  const execution = await session.callTool('website_tool_unverified_works_example_com_work');
  console.log(JSON.stringify(execution.kind === 'task' ? execution.serializeReference() : await execution.result()));
  await execution.settle();
}

async function cancel(reference) {
  const session = await open();
  await session.cancelTask(reference.taskId);
  console.log((await session.task(reference.taskId).snapshot()).status);
  await session.close();
  process.exit(0);
}

async function resume(reference) {
  const told = listen(reference.taskId);
  for (;;) {
    try {
      const session = await open();
      const execution = await session.resumeTask(reference);
      const { outcome } = await execution.settle();
      if (outcome.status === 'failed' && lost) throw outcome.error;
      console.log(JSON.stringify({ outcome: outcome.result?.content ?? String(outcome.error?.stack), status: outcome.status, told: await told }));
      process.exit(0);
    } catch {
      await sleep(100);
    }
  }
}

/** Listens for the task until it has ended, and returns its last status. */
async function listen(taskId) {
  const params = {
    notifications: { taskIds: [taskId] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': framing.protocolVersion, 'io.modelcontextprotocol/clientInfo': framing.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  };
  for (;;) {
    try {
      for await (const { method, params: task } of messages(await post({ method: 'subscriptions/listen', params }))) {
        if (method === 'notifications/subscriptions/acknowledged') console.log('listening');
        if (method === 'notifications/tasks' && task.status !== 'working') return task.status;
      }
    } catch {
      // as below
    }
    console.log('cut');
    await sleep(100);
  }
}

if (mode === 'page') page();
else if (mode === 'call') await call();
else if (mode === 'cancel') await cancel(JSON.parse(argument));
else await resume(JSON.parse(argument));

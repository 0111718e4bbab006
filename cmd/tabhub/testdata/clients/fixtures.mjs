// Usage: node fixtures.mjs — joins a tab with the fixtures that the conformance
// suites look for. TABHUB_URL and TABHUB_TOKEN say where the hub is; it must run
// with plain-names. Ends when the hub or stdin does.
import { openTab, sleep } from './tab.mjs';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const none = { type: 'object', properties: {} };
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const user = (content) => ({ role: 'user', content });


/** What a page answers that needs something of the client first. */
const ask = (inputRequests, requestState) => ({ resultType: 'input_required', inputRequests, requestState });
const elicit = (message, properties, required = Object.keys(properties)) => ({
  method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties, required } },
});
const sample = (words, maxTokens = 100) => ({
  method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };
const string = { type: 'string' };

/** Sleeps until it is told to stop. */
const slowly = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => (clearTimeout(timer), resolve()));
});

/** A tool that asks once and then tells what it was answered. */
const asking = (name, requests, tell, requestState) => ({
  name,
  run(args, { extensions: { inputResponses: got = {} } }) {
    const requested = requests(args);
    return Object.keys(requested).every((key) => typeof got[key] === 'object') ? text(tell(got)) : ask(requested, requestState);
  },
});
const elicited = ({ answer }) => `Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;

const tools = [
  { name: 'test_simple_text', run: () => text('This is a simple text response for testing.') },
  { name: 'test_reconnection', run: async () => { await sleep(2500); return text('The answer on an event stream.'); } },
  { name: 'test_image_content', run: () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }) },
  { name: 'test_audio_content', run: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }) },
  {
    name: 'test_embedded_resource',
    run: () => ({
      content: [{
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      }],
    }),
  },
  {
    name: 'test_multiple_content_types',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: png, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
        },
      ],
    }),
  },
  { name: 'test_error_handling', run: () => { throw new Error('This tool intentionally returns an error for testing'); } },
  {
    name: 'test_tool_with_progress',
    async run(_, { progress }) {
      for (const done of [0, 50, 100]) {
        progress(done, 100);
        await sleep(50);
      }
      return text('done');
    },
  },
  {
    // What a page says of its progress reaches clients as log messages.
    name: 'test_tool_with_logging',
    async run(_, { progress }) {
      for (const [done, message] of ['Tool execution started', 'Tool processing data', 'Tool execution completed'].entries()) {
        progress(done, 2, message);
        await sleep(50);
      }
      return text('done');
    },
  },
  { name: 'test_logging_tool', run: (_, { progress }) => (progress(1, 1, 'a message'), text('done')) },
  {
    name: 'json_schema_2020_12_tool',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef', type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' }, address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] }, phone: { type: 'string' }, email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: () => text('ok'),
  },
  {
    name: 'test_headers',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
      required: ['region'],
    },
    run: ({ region }) => text(region),
  },
  {
    ...asking('test_sampling', ({ prompt }) => ({ answer: sample(prompt) }), ({ answer }) => `LLM response: ${answer.content.text}`),
    inputSchema: { type: 'object', properties: { prompt: string }, required: ['prompt'] },
  },
  {
    ...asking('test_elicitation', ({ message }) => ({ answer: elicit(message, { username: string, email: string }) }),
      ({ answer }) => `User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`),
    inputSchema: { type: 'object', properties: { message: string }, required: ['message'] },
  },
  asking('test_elicitation_sep1034_defaults', () => ({
    answer: elicit('Please check', {
      name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true },
    }, []),
  }), elicited),
  asking('test_elicitation_sep1330_enums', () => {
    const titled = (...titles) => titles.map((title, i) => ({ const: `value${i + 1}`, title }));
    const options = ['option1', 'option2', 'option3'];
    return {
      answer: elicit('Please choose', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
      }, []),
    };
  }, elicited),
  asking('test_streaming_elicitation', () => ({ answer: elicit('Go on?', { ok: { type: 'boolean' } }) }), elicited),
  asking('test_missing_capability', () => ({ answer: sample('Anything?') }), () => 'sampled'),
  asking('test_input_required_result_elicitation', () => ({ user_name: elicit('What is your name?', { name: string }) }),
    ({ user_name }) => `Hello, ${user_name.content?.name}!`),
  asking('test_input_required_result_sampling', () => ({ capital_question: sample('What is the capital of France?') }),
    ({ capital_question }) => String(capital_question.content?.text)),
  asking('test_input_required_result_list_roots', () => ({ client_roots: roots }), ({ client_roots }) => JSON.stringify(client_roots.roots)),
  asking('test_input_required_result_request_state', () => ({ confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) }), () => 'state-ok', 'a state'),
  asking('test_input_required_result_tampered_state', () => ({ confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) }), () => 'state-ok', 'a state'),
  asking('test_input_required_result_multiple_inputs', () => ({
    user_name: elicit('What is your name?', { name: string }), greeting: sample('Generate a greeting', 50), client_roots: roots,
  }), () => 'all there', 'a state'),
  {
    name: 'test_input_required_result_multi_round',
    run(_, { extensions: { inputResponses: got = {}, requestState } }) {
      if (requestState === 'round 2' && got.step2) return text('done');
      if (requestState === 'round 1' && got.step1) return ask({ step2: elicit('Step 2: What is your favorite color?', { color: string }) }, 'round 2');
      return ask({ step1: elicit('Step 1: What is your name?', { name: string }) }, 'round 1');
    },
  },
  {
    name: 'test_input_required_result_capabilities',
    run(_, { extensions: { clientCapabilities: can = {} } }) {
      const all = { elicitation: elicit('Your name?', { name: string }), sampling: sample('A greeting'), roots };
      return ask(Object.fromEntries(Object.entries(all).filter(([what]) => can[what])));
    },
  },
  { name: 'greet', run: ({ name }) => text(`Hello, ${name}!`) },
  { name: 'slow_compute', run: async ({ seconds }, { signal }) => (await slowly(seconds * 1000, signal), text(`computed for ${seconds} s`)) },
  { name: 'failing_job', run: async () => { await sleep(500); throw new Error('This tool always fails'); } },
  { ...asking('protocol_error_job', () => ({ client_roots: roots }), () => 'the client has roots'), after: 500 },
  { ...asking('confirm_delete', () => ({ confirm: elicit('Delete it?', { confirm: { type: 'boolean' } }) }), ({ confirm }) => `confirmed: ${confirm.action}`), after: 500 },
  {
    ...asking('multi_input', () => ({ first: elicit('One', { name: string }), second: elicit('Two', { name: string }) }),
      ({ first, second }) => `${first.action} ${second.action}`),
    after: 500,
  },
  {
    name: 'test_tool_with_task',
    async run(_, { extensions: { inputResponses: got = {} } }) {
      if (!got.user_name) return ask({ user_name: elicit('What is your name?', { name: string }) });
      await sleep(500);
      return text(`Hello, ${got.user_name.content?.name}!`);
    },
  },
  { name: 'test_trigger_tool_change', run: () => (change('tools'), text('changed')) },
  { name: 'test_trigger_prompt_change', run: () => (change('prompts'), text('changed')) },
].map(({ after, ...t }) => ({
  description: t.name, inputSchema: none, ...t,
  ...(after && { run: async (...args) => (await sleep(after), t.run(...args)) }),
}));

const resources = [
  {
    uri: 'test://static-text', name: 'static text', mimeType: 'text/plain', description: 'A text',
    run: (uri) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] }),
  },
  {
    uri: 'test://static-binary', name: 'static binary', mimeType: 'image/png', description: 'An image',
    run: (uri) => ({ contents: [{ uri, mimeType: 'image/png', blob: png }] }),
  },
  {
    uri: 'test://watched-resource', name: 'watched', mimeType: 'text/plain', description: 'One to subscribe to',
    run: (uri) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'watched' }] }),
  },
];
const templates = [{
  uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json', description: 'A template',
  run(uri) {
    const id = uri.split('/')[3];
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
  },
}];
const prompts = [
  { name: 'test_simple_prompt', run: () => ({ messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })] }) },
  {
    name: 'test_prompt_with_arguments',
    arguments: [{ name: 'arg1', required: true }, { name: 'arg2', required: true }],
    run: ({ arg1, arg2 }) => ({ messages: [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })] }),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    arguments: [{ name: 'resourceUri', required: true }],
    run: ({ resourceUri }) => ({
      messages: [
        user({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
        user({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    }),
  },
  {
    name: 'test_input_required_result_prompt',
    run: (_, { extensions: { inputResponses: got = {} } }) => (got.user_context
      ? { messages: [user({ type: 'text', text: `Context: ${got.user_context.content?.context}` })] }
      : ask({ user_context: elicit('What context should the prompt use?', { context: string }) })),
  },
  {
    name: 'test_prompt_with_image',
    run: () => ({ messages: [user({ type: 'image', data: png, mimeType: 'image/png' }), user({ type: 'text', text: 'Please analyze the image above.' })] }),
  },
].map((p) => ({ description: p.name, ...p }));

const more = { tools: false, prompts: false };
const tab = await openTab(process.env.TABHUB_URL, process.env.TABHUB_TOKEN, { key: 'fixtures' });
await tab.offer({ tools, resources, templates, prompts });
console.log('ready');

/** Offers one more item of a kind, or takes it back. */
function change(kind) {
  more[kind] = !more[kind];
  const all = { tools, prompts }[kind];
  const extra = { name: `test_extra_${kind}`, description: 'comes and goes', ...(kind === 'tools' && { inputSchema: none }) };
  setTimeout(() => tab.offer({ [kind]: more[kind] ? [...all, extra] : all }), 50);
}

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

// What Chromium is to have of continuations, over the shape of Chromium 160: tools get an invocation,
// a token is good in the session of the tab, and resumeTool calls back, or refuses if CALLER_GONE, as
// the document that has called the tool has gone.
(() => {
  const prototype = ModelContext.prototype;
  if (!prototype.registerTool || prototype.resumeTool) return;
  const inputs = new WeakMap();
  class ModelContextToolInvocation {
    async requestToken() {
      const token = `t${Math.random()}`;
      sessionStorage.setItem("browser", JSON.stringify({ token, input: inputs.get(this) }));
      return token;
    }
  }
  window.ModelContextToolInvocation = ModelContextToolInvocation;
  const { registerTool } = prototype;
  prototype.registerTool = function (tool, ...rest) {
    const { execute } = tool;
    const given = (input, options) => {
      const invocation = new ModelContextToolInvocation();
      inputs.set(invocation, input);
      return execute(input, { ...options, invocation });
    };
    return registerTool.call(this, Object.create(tool, { execute: { value: given } }), ...rest);
  };
  prototype.resumeTool = async function (token, callback) {
    const { token: known, input } = JSON.parse(sessionStorage.getItem("browser") ?? "{}");
    sessionStorage.removeItem("browser");
    if (token !== known || CALLER_GONE) throw new DOMException("The token is not known.", "InvalidStateError");
    const invocation = new ModelContextToolInvocation();
    inputs.set(invocation, input);
    setTimeout(() => void callback(input, { signal: new AbortController().signal, invocation }));
  };
})();

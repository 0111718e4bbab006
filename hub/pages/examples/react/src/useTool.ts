import { useEffect, useRef } from "react";

/** Offers a tool as long as the component is there. It is registered once: what it executes is the latest render's. */
export function useTool<Input>(tool: WebMCP.Tool<Input>) {
  const latest = useRef(tool);
  useEffect(() => {
    latest.current = tool;
  });
  useEffect(() => {
    const mounted = new AbortController();
    const execute: WebMCP.Tool<Input>["execute"] = (input, options) => latest.current.execute(input, options);
    document.modelContext?.registerTool({ ...latest.current, execute }, { signal: mounted.signal }).catch((error) => {
      if (!mounted.signal.aborted) console.error(error);
    });
    return () => mounted.abort();
  }, [tool.name]);
}

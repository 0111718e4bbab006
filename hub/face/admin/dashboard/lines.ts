/** Yields the lines of an answer as they come. The request ends when the reader stops. */
export async function* lines({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    /** The parts of a line that is not whole yet: a result may be of many MiB. */
    let line: string[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const [rest, ...more] = part.value.split("\n");
      line.push(rest);
      for (const next of more) {
        yield line.join("");
        line = [next];
      }
    }
  } finally {
    await reader.cancel();
  }
}

// Brought to the document of a tab in which a person is recorded (worker/recordings.ts).

import { Recorder } from "./steps/recorder.ts";

{
  const before = Object.hasOwn(globalThis, "tabhubRecorder") ? globalThis.tabhubRecorder : undefined;
  if (before?.document === document) before.begin();
  else (globalThis.tabhubRecorder = new Recorder()).begin();
}

// What this worker knows of a run, and what it says of its steps.

import { isActing, verbOf } from "../steps.ts";

export type PackRef = NonNullable<FromHub["browser/run"]["params"]["pack"]>;
export type Params = FromHub["browser/run"]["params"];
type Report = RunResult["steps"][number];

export interface Run {
  tabId: number;
  frameId: number;
  documentId: string; // the document that has it
  origin: string;
  params: Params;
  acts: boolean; // whether a step of it may change something
  at: number; // when it began, as Date.now() has it
  progress: number; // what the hub was sent last
  words: string; // what it does, or waits for
  from: number; // the step that it began with in the document
  granted: number; // the latest step that may have been begun, counted from 0
  did: number; // the latest that was done
  stayed: number; // the latest after which its document went on
  reports: (Report | null)[]; // of the steps that act
  values?: StepValues; // what steps gave; undefined: too much
  leads?: { until: number; declared: boolean }; // the document gives way to another one
  error?: { url: string; error: string }; // why the browser could not show that
  moved?: boolean; // whether one has
  url?: string; // where a client's own steps begin
  page?: RunResult["page"]; // where it has ended, if the browser could not show that
  script?: ScriptRun;
}

/** A run whose steps a script calls for, one after the other. */
interface ScriptRun {
  call: number; // the call that the last step is of
  gives?: string; // PageCall.gives and none
  none?: boolean;
  known: string; // the document that the script knows: a step led there, or has looked at it
  left?: string; // why no further step can be done
}

export function stepsOf({ params: { steps = [] } }: Pick<Run, "params">): Step[] {
  return steps;
}

/** The steps that a document is given: of those before only how the next dialog is answered. */
export function stepsFrom(run: Run): Step[] {
  const steps = stepsOf(run);
  const acted = steps.findLastIndex((step, i) => i < run.from && isActing(step));
  return steps.map((step, i) => (i < run.from && !(step.dialog && i > acted) ? {} : step));
}

/** Whether a run is the call of a script's tool, which has no steps. */
export function isCall({ pack, steps }: Params) {
  return pack !== undefined && !steps?.length;
}

/** Whether a script's step would act in a document that it has never seen: what it knows of the page may not be so there. */
export function isBlind(run: Run) {
  const { script, documentId } = run;
  return script !== undefined && script.known !== documentId && isActing(stepsOf(run).at(-1) ?? {});
}

/** Where the port leads that a run is given through. */
export function placeOfRun({ documentId, params }: Run) {
  return params.pack && isCall(params) ? placeOf(documentId, params.pack) : documentId;
}

/** The script of a pack in a document. */
export function placeOf(documentId = "", { hash }: PackRef) {
  return `${documentId} ${hash}`;
}

/** What is certain of a step. */
export function reported(run: Run, i: number): Report {
  const { reports, granted, did } = run;
  const step = stepsOf(run)[i];
  const done = i <= did || (i < granted && !isActing(step));
  return reports[i] ?? { verb: verbOf(step), did: done ? "yes" : i === granted ? "perhaps" : "no" };
}

/** Whether a step gives references. */
export function givesRefs(step: Step) {
  return step.look !== undefined || (step.read !== undefined && JSON.stringify(step.read).includes('"give":"ref"'));
}

/** A run as it is written down: the next worker has no files. */
export function withoutFiles(run: Run): Run {
  const steps = stepsOf(run);
  if (!steps.some(({ upload }) => upload)) return run;
  const bare = (step: Step) => (step.upload ? { ...step, upload: { ...step.upload, files: [] } } : step);
  return { ...run, params: { ...run.params, steps: steps.map(bare) } };
}

/** Whether a step that is still to be done has lost its files. */
export function lacksFiles(run: Run) {
  return stepsOf(run).slice(run.did + 1).some(({ upload }) => upload && !upload.files.length);
}

/** What is left of an answer that is too large to be written down. */
export function withoutValue(text: string) {
  const { steps, page } = JSON.parse(text) as RunResult;
  const failed = { step: Math.max(0, steps.length - 1), code: "STEP_LOST", message: "all steps were done, and the result was lost with the extension's worker, which the browser stopped" };
  return JSON.stringify({ steps, page, failed });
}

/** Says something to a document, which may just have gone. */
export function say(port: chrome.runtime.Port | undefined, message: WorkerToRunner | WorkerToScript) {
  try {
    port?.postMessage(message);
  } catch {
    // The browser will report its end.
  }
}

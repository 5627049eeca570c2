/** Which mesh operations without tensors are recorded for: that of the code that is running. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { NativeRecorder } from "../../native/tensor-addon.js";
import { addon } from "./addon.js";

/** What records, and how it is told that it has recorded something. */
export interface Recording {
  readonly recorder: NativeRecorder;
  /** Something was recorded that no operation has. @param bytes of elements in it */
  recorded(bytes?: number): void;
  seed(seed: number, ranks: boolean): void;
  /** @throws TensorError when it has ended */
  check(): void;
}

const storage = new AsyncLocalStorage<Recording | undefined>();
/** Nobody pays for meshes before there is one. */
let isRecordingUsed = false;
let lastActivated: Recording | undefined;

/** Runs code, with all that it awaits, whose tensors are a mesh's. */
export function runWithRecording<T>(recording: Recording | undefined, call: () => T): T {
  isRecordingUsed = true;
  return storage.run(recording, call);
}

/** What the code that is running records for; undefined: tensors are of this process. */
export function currentRecording(): Recording | undefined {
  return isRecordingUsed ? storage.getStore() : undefined;
}

/** Tells the addon, before each call. */
export function activateCurrentRecording(): void {
  if (!isRecordingUsed) return;
  const current = storage.getStore();
  current?.check();
  if (current === lastActivated) return;
  lastActivated = current;
  addon().useRecorder(current?.recorder ?? null);
}

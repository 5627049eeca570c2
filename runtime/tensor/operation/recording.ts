/**
 * Recordings, which execute operations elsewhere instead of in this process. A tensor mesh is a recording. This file keeps the
 * active recordings, and the current recording of the running code, which gets operations without tensors.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { NativeRecorder } from "../../native/tensor-addon.js";
import { addon, setRecordedListener } from "./addon.js";

/** The owner of a recorder of the addon. */
export interface Recording {
  readonly recorder: NativeRecorder;
  /** Called before the first operation is recorded after commands were taken, and before each one while they are many. */
  recorded(): void;
  seed(seed: number, ranks: boolean): void;
  /** @throws {TensorError} when the recording has ended */
  check(): void;
}

const activeByRecorder = new Map<number, Recording>();
const storage = new AsyncLocalStorage<Recording | undefined>();
/** Whether a recording has been used. Programs without meshes skip the look-up in asynchronous storage. */
let isRecordingUsed = false;
let lastActivated: Recording | undefined;

setRecordedListener((recorder) => activeByRecorder.get(recorder)?.recorded());

/** Makes a recording active until {@link endRecording}. */
export function beginRecording(recording: Recording): void {
  activeByRecorder.set(addon().recorderNumber(recording.recorder), recording);
}

/** Ends a recording. Its tensors cannot be used any more. */
export function endRecording({ recorder }: Recording): void {
  activeByRecorder.delete(addon().recorderNumber(recorder));
  addon().closeRecorder(recorder);
}

/** Returns the active recording with this number of the addon. */
export function activeRecording(recorder: number): Recording | undefined {
  return activeByRecorder.get(recorder);
}

/** Returns all active recordings, the oldest first. */
export function activeRecordings(): Recording[] {
  return [...activeByRecorder.values()];
}

/** Runs code, with everything that it awaits, for a recording; undefined: for this process. */
export function runWithRecording<T>(recording: Recording | undefined, call: () => T): T {
  isRecordingUsed = true;
  return storage.run(recording, call);
}

/** Returns the recording of the running code; undefined where tensors belong to this process. */
export function currentRecording(): Recording | undefined {
  return isRecordingUsed ? storage.getStore() : undefined;
}

/** Tells the addon before each operation which recorder the running code uses. */
export function activateCurrentRecording(): void {
  if (!isRecordingUsed) return;
  const current = storage.getStore();
  current?.check();
  if (current === lastActivated) return;
  lastActivated = current;
  addon().useRecorder(current?.recorder ?? null);
}

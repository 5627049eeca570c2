/** Starts a proc with inline isolation: a proc of this process. */
import { inlineBackend } from "../../proc/launch/inline-backend.js";
import type { ProcBackend, ProcIdentity } from "../../proc/launch/proc-backend.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";

export function startInlineBackend(runtime: ProcessRuntime, identity: ProcIdentity): ProcBackend {
  return inlineBackend(runtime.platform.clock, (pipe, ended) => {
    const leave = (reason: string) => {
      made.proc.close(reason);
      runtime.procs.delete(identity.id);
      ended();
    };
    const made = runtime.addProc(identity, leave);
    made.proc.attach(pipe, identity.parent);
    return () => leave("killed");
  });
}

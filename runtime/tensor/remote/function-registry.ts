/** The remote functions that modules of this process have registered. */
import type { RemoteName } from "../../../generated/tensor.js";
import { importModule } from "../../codegen/v1/index.js";

type RemoteImplementation = (...args: never[]) => unknown;

const registeredFunctions = new Map<string, RemoteImplementation>();

export function registerFunction({ module, name }: RemoteName, run: RemoteImplementation): void {
  registeredFunctions.set(`${module}#${name}`, run);
}

/** Returns a registered function. Imports its module first if necessary. Rejects if the module does not register it. */
export async function loadFunction({ module, name }: RemoteName): Promise<RemoteImplementation> {
  const key = `${module}#${name}`;
  if (!registeredFunctions.has(key)) await importModule(module);
  const run = registeredFunctions.get(key);
  if (run !== undefined) return run;
  throw new Error(
    `cannot run ${name}: ${module} does not make it known; call remote(import.meta.url, "${name}", …) there`,
  );
}

/** The remote functions that modules of this process have made known. */
import type { RemoteName } from "../../../generated/tensor.js";

type Run = (...args: never[]) => unknown;

const known = new Map<string, Run>();

export function makeKnown({ module, name }: RemoteName, run: Run): void {
  known.set(`${module}#${name}`, run);
}

/** Loads its module if it is not known. Rejects if the module does not make it known either. */
export async function functionOf({ module, name }: RemoteName): Promise<Run> {
  const key = `${module}#${name}`;
  if (!known.has(key)) await import(module);
  const run = known.get(key);
  if (run !== undefined) return run;
  throw new Error(
    `cannot run ${name}: ${module} does not make it known; call remote(import.meta.url, "${name}", …) there`,
  );
}

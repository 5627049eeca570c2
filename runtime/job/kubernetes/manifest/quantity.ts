/** Amounts of processors and memory, in the notation of Kubernetes and in that of other jobs. */
import { describeValue } from "../../../../shared/text/describe-value.js";
import { optionError } from "../../check-option.js";

const unitBytes: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** Returns an amount of memory in bytes. @param option the option, for the error @throws TypeError if it is malformed */
export function memoryInBytes(option: string, memory: unknown): number {
  if (typeof memory === "number" && Number.isSafeInteger(memory) && memory > 0) return memory;
  const [, digits, unit] = (typeof memory === "string" && /^(\d+(?:\.\d+)?)([KMGT]i)B?$/.exec(memory)) || [];
  const bytes = digits === undefined ? 0 : Math.floor(Number(digits) * unitBytes[unit!]!);
  if (bytes > 0) return bytes;
  throw optionError(`${option} as bytes or as text such as "512Mi", "16Gi", "16GiB"`, memory);
}

/** Returns bytes as a quantity of Kubernetes, in the largest unit that is exact. */
export function memoryQuantity(bytes: number): string {
  for (const [unit, size] of Object.entries(unitBytes).reverse()) {
    if (bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}

/** Checks a number of processors, which Kubernetes counts in thousandths. @throws RangeError */
export function checkCpus(option: string, cpus: unknown): void {
  if (typeof cpus === "number" && cpus > 0 && Number.isSafeInteger(Math.round(cpus * 1e6) / 1e3)) return;
  throw new RangeError(
    `cannot make a job: expected ${option} as a number above 0 with at most 3 decimals, got ${describeValue(cpus)}`,
  );
}

/** Returns a number of processors as a quantity of Kubernetes. */
export function cpuQuantity(cpus: number): string {
  return Number.isInteger(cpus) ? String(cpus) : `${Math.round(cpus * 1000)}m`;
}

/** Checks a number of GPUs. @throws RangeError */
export function checkGpus(option: string, gpus: unknown): void {
  if (Number.isSafeInteger(gpus) && (gpus as number) >= 0) return;
  throw new RangeError(`cannot make a job: expected ${option} as a whole number, got ${describeValue(gpus)}`);
}

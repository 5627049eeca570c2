/** Records the memory and open files of processes over time, and detects leaks: more at the end than in the middle. */
import { readdirSync, readFileSync } from "node:fs";

/** Returns the physical memory of a process in bytes, or 0 if there is no such process. */
export function residentOf(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

export interface GrowthBound {
  /** Maximum ratio of the last third to the middle third. */
  readonly times: number;
  /** Maximum growth in addition to the ratio. */
  readonly more: number;
}

export class UsageSeries {
  readonly #values: number[] = [];

  add(value: number): void {
    if (value > 0) this.#values.push(value);
  }

  /** The medians of the first, middle and last third. */
  get thirds(): readonly [number, number, number] {
    const third = Math.floor(this.#values.length / 3);
    const part = (i: number) => median(this.#values.slice(i * third, i === 2 ? undefined : (i + 1) * third));
    return [part(0), part(1), part(2)];
  }

  isFlat({ times, more }: GrowthBound): boolean {
    const [, middle, last] = this.thirds;
    return last <= middle * times + more;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

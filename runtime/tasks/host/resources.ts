/**
 * Amounts of resources: what users write, and what hosts count with. Hosts count in whole units, so that sums are exact: memory
 * in bytes, and everything else in ten-thousandths.
 */

import { describeValue } from "../../../shared/text/describe-value.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";

/**
 * The resources that a task or an actor needs, or that a host has. Other names than these three are resources that the program defines, for
 * example `licenses`.
 */
export interface Resources {
  /** The number of processors. Fractions are possible. */
  readonly cpus?: number;
  /** The number of GPUs: a whole number, or a fraction below 1, which shares a GPU with others. */
  readonly gpus?: number;
  /** Memory in bytes, or as a text with a unit: `"512MiB"`, `"1.5GB"`. */
  readonly memory?: number | string;
  readonly [name: string]: number | string | undefined;
}

/** Amounts in whole units, by the names of the resources. Amounts of 0 are left out. */
export type Amounts = ReadonlyMap<string, number>;

/** The units of one GPU, and of one of every other resource except memory. */
export const unitsOfOne = 10_000;

const powers: Readonly<Record<string, number>> = {
  "": 1,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/**
 * Checks amounts, and returns them as numbers.
 *
 * @param resources the amounts; undefined ones are left out
 * @param failed the start of the messages of errors: `cannot run task square`
 * @returns the amounts, with memory in bytes
 * @throws {RangeError} when an amount is negative, infinite or not a number, or the number of GPUs is neither whole nor below 1
 * @throws {TypeError} when an amount is of another type, or memory has an unknown unit
 */
export function checkResources(resources: Resources, failed: string): Record<string, number> {
  if (typeof resources !== "object" || resources === null || Array.isArray(resources)) {
    throw new TypeError(`${failed}: expected resources as an object, got ${describeValue(resources)}`);
  }
  const checked: Record<string, number> = {};
  for (const [name, given] of Object.entries(resources)) {
    if (given !== undefined) checked[name] = checkAmount(name, given, failed);
  }
  return checked;
}

function checkAmount(name: string, given: unknown, failed: string): number {
  const amount = name === "memory" && typeof given === "string" ? parseBytes(given, failed) : given;
  if (typeof amount !== "number") {
    throw new TypeError(`${failed}: expected a number as the amount of ${name}, got ${describeValue(given)}`);
  }
  if (!(amount >= 0 && unitsOf(name, amount) <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(
      `${failed}: expected an amount of ${name} from 0 to ${largest(name)}, got ${describeValue(given)}`,
    );
  }
  if (name === "gpus" && amount > 1 && !Number.isInteger(amount)) {
    throw new RangeError(`${failed}: expected a whole number of gpus, or a fraction below 1, got ${amount}`);
  }
  return amount;
}

function largest(name: string): string {
  return name === "memory" ? "2^53 - 1 bytes" : "900719925474";
}

function parseBytes(text: string, failed: string): number {
  const [, amount, power = ""] = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]i?|)B?\s*$/.exec(text) ?? [];
  if (amount !== undefined) return Math.round(Number(amount) * powers[power]!);
  throw new TypeError(
    `${failed}: expected memory in bytes, or with the unit B, KB, MB, GB, TB, KiB, MiB, GiB or TiB, got ${describeValue(text)}`,
  );
}

/** Returns an amount in whole units. A positive amount is at least one unit. */
function unitsOf(name: string, amount: number): number {
  if (amount === 0) return 0;
  // The product of 0.57 and 10,000 is below 5,700. Thirds are rounded down, so that three of them fit into one.
  const units = name === "memory" ? Math.ceil(amount) : Math.floor(amount * unitsOfOne + 1e-3);
  return Math.max(1, units);
}

/** Returns checked amounts in whole units. */
export function amountsOf(checked: Readonly<Record<string, number>>): Amounts {
  const amounts = new Map<string, number>();
  for (const [name, amount] of Object.entries(checked)) if (amount > 0) amounts.set(name, unitsOf(name, amount));
  return amounts;
}

/** Returns amounts as numbers. */
export function resourcesOf(amounts: Amounts): Record<string, number> {
  return Object.fromEntries(
    [...amounts].map(([name, units]) => [name, name === "memory" ? units : units / unitsOfOne]),
  );
}

/** Returns amounts as text: `2 cpus, 1 gpu, 1.5 GiB of memory`. */
export function formatAmounts(amounts: Amounts): string {
  const texts = Object.entries(resourcesOf(amounts))
    .filter(([, amount]) => amount !== 0)
    .map(([name, amount]) =>
      name === "memory" ? `${formatBytes(amount)} of memory` : `${amount} ${nounOf(name, amount)}`,
    );
  return texts.join(", ") || "nothing";
}

/** Names of other resources are those of the program, and stay as they are. */
function nounOf(name: string, amount: number): string {
  return amount === 1 && (name === "cpus" || name === "gpus") ? name.slice(0, -1) : name;
}

/** The text of a lock file. What `parseLock` reads, byte for byte. */
import { constructorEntry, type Lock, type LockBlock, type LockEntry, type LockParams } from "./lock.js";

export const lockHeader =
  "# viceroy lock 1 · written by `viceroy compile` · ids are never reused · review every change";

export function printLock(lock: Lock): string {
  const blocks = [...lock.blocks].sort(byPlace);
  return [lockHeader, ...blocks.flatMap(printBlock), ""].join("\n");
}

function byPlace(a: LockBlock, b: LockBlock): number {
  return compare(a.module, b.module) || compare(a.name, b.name) || compare(a.kind, b.kind);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function printBlock(block: LockBlock): readonly string[] {
  return [printHead(block), ...[...block.entries].sort(byId).map(printEntry)];
}

/** The first line of a block. */
export function printHead({ kind, name, module, retired, id, next }: LockBlock): string {
  const number = kind === "actor" ? ` ${printActorId(id)}` : "";
  return `${retired ? "-" : ""}${kind} ${name} in ${printName(module)}${number} next=${next}`;
}

/** Eight hexadecimal digits. */
export function printActorId(id: number): string {
  return `0x${id.toString(16).padStart(8, "0")}`;
}

function byId(a: LockEntry, b: LockEntry): number {
  // The constructor's line stands first; all others have ids.
  return (
    Number(b.name === constructorEntry && b.id === 0) - Number(a.name === constructorEntry && a.id === 0) || a.id - b.id
  );
}

/** The line of a member. */
export function printEntry({ id, name, retired, type, was, params }: LockEntry): string {
  const parts = [`  ${id} ${retired ? "-" : ""}${printName(name)}`];
  if (params !== undefined) parts.push(printParams(params), "->");
  if (type !== "") parts.push(type);
  if (was.length > 0) parts.push(`was=${was.map(printName).join(",")}`);
  return parts.join(" ");
}

function printParams({ next, entries }: LockParams): string {
  const list = entries.map(({ id, name, retired, type }) => `${id} ${retired ? "-" : ""}${printName(name)}: ${type}`);
  return `next=${next} (${list.join(", ")})`;
}

/** A name as it is when it is a plain word, else as a JSON string. */
export function printName(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$./@~-]*$/u.test(name) ? name : JSON.stringify(name);
}

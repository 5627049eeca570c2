/** Prints a lock file. `parseLock` reads the text back, and printing its result gives the same bytes. */
import type { AcceptedBreak, Lock, LockBlock, LockEntry, LockParam, LockParams, Pending } from "./lock.js";
import { hasPending } from "./pending.js";

export const lockHeader = headerOf(1);

/**
 * The header of format 2, which has lines that older versions cannot read: aliases, tasks, accepted breaking changes and
 * pending members.
 */
export const lockHeaderFormat2 = headerOf(2);

function headerOf(format: number): string {
  return `# viceroy lock ${format} · written by \`viceroy compile\` · ids are never reused · review every change`;
}

/**
 * Prints a lock. A lock that needs no feature of format 2 is written in format 1, so that existing locks do not change.
 */
export function printLock(lock: Lock): string {
  const blocks = [...lock.blocks].sort(byPlace);
  const accepted = [...new Set(lock.accepted.map(printAccepted))].sort();
  const needsFormat2 =
    accepted.length > 0 || blocks.some(({ kind }) => kind === "alias" || kind === "task") || hasPending(lock);
  const header = needsFormat2 ? lockHeaderFormat2 : lockHeader;
  return [header, ...accepted, ...blocks.flatMap(printBlock), ""].join("\n");
}

/** Prints the line of an accepted breaking change. */
export function printAccepted({ code, text }: AcceptedBreak): string {
  return `accepted ${code} ${text}`;
}

function byPlace(a: LockBlock, b: LockBlock): number {
  return compare(a.module, b.module) || compare(a.name, b.name) || compare(a.kind, b.kind);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function printBlock(block: LockBlock): readonly string[] {
  return [printBlockHead(block), ...[...block.entries].sort(byId).map(printEntry)];
}

/** Prints the first line of a block. */
export function printBlockHead({ kind, name, module, retired, pending, id, next }: LockBlock): string {
  const number = kind === "actor" ? ` ${printActorId(id)}` : "";
  return `${stateMark({ retired, pending })}${kind} ${name} in ${printName(module)}${number} next=${next}`;
}

/** Prints the id of an actor as eight hexadecimal digits. */
export function printActorId(id: number): string {
  return `0x${id.toString(16).padStart(8, "0")}`;
}

/** Compares entries by id. The constructor of an actor has id 0 and comes first. */
function byId(a: LockEntry, b: LockEntry): number {
  return a.id - b.id;
}

/** Prints the line of a member. */
export function printEntry({ id, name, retired, pending, type, was, params }: LockEntry): string {
  const parts = [`  ${id} ${stateMark({ retired, pending })}${printName(name)}`];
  if (params !== undefined) parts.push(printParams(params), "->");
  if (type !== "") parts.push(type);
  if (was.length > 0) parts.push(`was=${was.map(printName).join(",")}`);
  return parts.join(" ");
}

function printParams({ next, entries }: LockParams): string {
  const list = entries.map(
    (param: LockParam) => `${param.id} ${stateMark(param)}${printName(param.name)}: ${param.type}`,
  );
  return `next=${next} (${list.join(", ")})`;
}

function stateMark({ retired, pending }: Pending & { readonly retired: boolean }): string {
  if (retired) return "-";
  return pending ? "+" : "";
}

/** Prints a plain word as it is, and any other name as a JSON string. */
export function printName(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$./@~-]*$/u.test(name) ? name : JSON.stringify(name);
}

/**
 * Parses a lock file and checks everything that needs no history, because people edit and merge the file by hand. Every
 * problem has a position. The parser does not throw.
 */
import { conflictLines } from "./conflict-markers.js";
import {
  type AcceptedBreak,
  type BlockKind,
  emptyLock,
  type Lock,
  type LockBlock,
  type LockEntry,
  type LockParam,
  type LockParams,
  maxId,
  type Pending,
} from "./lock.js";
import type { LockProblem } from "./lock-problem.js";
import { LockScanner, LockSyntaxError } from "./lock-scanner.js";
import { lockHeader, lockHeaderFormat2 } from "./print.js";

export interface ParsedLock {
  readonly lock: Lock;
  readonly problems: readonly LockProblem[];
}

const expectedKind = "actor, task, message, oneof, union, enum or alias";
const kinds: readonly string[] = ["actor", "task", "message", "oneof", "union", "enum", "alias"];

/** @param file the path of the lock, for positions */
export function parseLock(file: string, text: string): ParsedLock {
  const conflicts = conflictLines(text);
  if (conflicts.length > 0) {
    // Other problems are not reported, because conflict markers make them meaningless.
    const found = conflicts.map((line) => ({ kind: "lockConflict", at: { file, line, column: 1 } }) as const);
    return { lock: emptyLock, problems: found };
  }
  const problems: LockProblem[] = [];
  const blocks: MutableBlock[] = [];
  const accepted: AcceptedBreak[] = [];
  const lines = text.split(/\r?\n/);
  if (lines[0] !== lockHeader && lines[0] !== lockHeaderFormat2) {
    const found = lines[0] ?? "";
    problems.push({ kind: "lockVersion", at: { file, line: 1, column: 1 }, found, expected: lockHeaderFormat2 });
    return { lock: emptyLock, problems };
  }
  for (const [i, line] of lines.entries()) {
    if (i === 0 || line.trim() === "") continue;
    const scanner = new LockScanner(line);
    try {
      if (line.startsWith("  ")) {
        const block = blocks.at(-1);
        if (block === undefined) throw new LockSyntaxError("expected a declaration before the member", 1);
        block.entries.push(parseEntry(scanner, block.kind, i + 1));
      } else if (line.startsWith("accepted ")) accepted.push(parseAccepted(line));
      else blocks.push(parseHead(scanner, i + 1));
    } catch (error) {
      if (!(error instanceof LockSyntaxError)) throw error;
      problems.push({ kind: "lockSyntax", at: { file, line: i + 1, column: error.column }, why: error.message });
    }
  }
  problems.push(...checkBlocks(file, blocks));
  return { lock: { blocks, accepted }, problems };
}

interface MutableBlock extends LockBlock {
  readonly entries: LockEntry[];
}

function parseAccepted(line: string): AcceptedBreak {
  const [, code, text] = /^accepted (VC\d{4}) (\S.*)$/.exec(line) ?? [];
  if (code !== undefined && text !== undefined) return { code, text };
  throw new LockSyntaxError("expected the code of a breaking change and its text", "accepted ".length + 1);
}

function parseHead(scanner: LockScanner, line: number): MutableBlock {
  const { retired, pending } = parseMark(scanner);
  const kind = scanner.word(expectedKind);
  if (!kinds.includes(kind)) throw new LockSyntaxError(`expected ${expectedKind}, got "${kind}"`, 1);
  const name = scanner.path();
  scanner.expect("in");
  const module = scanner.name();
  const id = kind === "actor" ? scanner.hex() : 0;
  const next = scanner.assigned("next");
  scanner.end();
  return { kind: kind as BlockKind, name, module, retired, ...pending, id, next, entries: [], line };
}

function parseEntry(scanner: LockScanner, kind: BlockKind, line: number): LockEntry {
  const id = scanner.number();
  const { retired, pending } = parseMark(scanner);
  const name = scanner.name();
  let params: LockParams | undefined;
  if (kind === "actor" || kind === "task") {
    params = parseParams(scanner);
    scanner.expect("->");
  }
  const type = kind === "enum" ? "" : scanner.type();
  const was = scanner.skip("was=") ? scanner.names() : [];
  scanner.end();
  return { id, name, retired, ...pending, type, was, line, ...(params === undefined ? {} : { params }) };
}

/** Reads the mark of a line: `-` for a tombstone, `+` for a pending member. */
function parseMark(scanner: LockScanner): { readonly retired: boolean; readonly pending: Pending } {
  const retired = scanner.skip("-");
  return { retired, pending: !retired && scanner.skip("+") ? { pending: true } : {} };
}

function parseParams(scanner: LockScanner): LockParams {
  const next = scanner.assigned("next");
  const entries: LockParam[] = [];
  scanner.expect("(");
  if (!scanner.skip(")")) {
    do {
      const id = scanner.number();
      const { retired, pending } = parseMark(scanner);
      const name = scanner.name();
      scanner.expect(":");
      entries.push({ id, name, retired, ...pending, type: scanner.type() });
    } while (scanner.skip(","));
    scanner.expect(")");
  }
  return { next, entries };
}

function checkBlocks(file: string, blocks: readonly LockBlock[]): readonly LockProblem[] {
  const problems: LockProblem[] = [];
  const names = new Map<string, LockBlock>();
  const actors = new Map<number, LockBlock>();
  for (const block of blocks) {
    const at = { file, line: block.line, column: 1 };
    const key = `${block.kind} ${block.name} in ${block.module}`;
    const twin = names.get(key);
    if (twin !== undefined) problems.push({ kind: "lockDuplicate", at, what: key, other: twin.line });
    names.set(key, block);
    if (block.kind === "actor") {
      const holder = actors.get(block.id);
      if (holder !== undefined) {
        problems.push({ kind: "lockIdTwice", at, id: block.id, first: holder.name, second: block.name });
      }
      actors.set(block.id, block);
    }
    problems.push(...checkEntries(file, block));
  }
  return problems;
}

function checkEntries(file: string, block: LockBlock): readonly LockProblem[] {
  const problems: LockProblem[] = [];
  // Enumeration values are their own ids.
  const max = block.kind === "enum" ? 2 ** 31 : maxId;
  const check = (entries: readonly (LockParam & { line?: number })[], next: number, of: string, line: number) => {
    const holders = new Map<number, string>();
    for (const entry of entries) {
      const at = { file, line: entry.line ?? line, column: 3 };
      const holder = holders.get(entry.id);
      if (holder !== undefined)
        problems.push({ kind: "lockIdTwice", at, id: entry.id, first: holder, second: entry.name });
      holders.set(entry.id, entry.name);
      if (Math.abs(entry.id) > max)
        problems.push({ kind: "lockSyntax", at, why: `id ${entry.id} is larger than ${max}` });
    }
    const highest = Math.max(0, ...holders.keys());
    if (next <= highest) problems.push({ kind: "lockNext", at: { file, line, column: 1 }, of, next, highest });
  };
  check(block.entries, block.next, block.name, block.line);
  for (const { params, name, line } of block.entries) {
    if (params !== undefined) check(params.entries, params.next, `${block.name}.${name}`, line);
  }
  return problems;
}

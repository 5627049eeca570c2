/**
 * Maps the paths of inline shapes between versions. A path consists of the names of the members that lead to the shape.
 * It changes when one of these members is renamed or the declaration moves to another namespace, while the shape stays
 * the same.
 */
import { isQualifiedName, simpleName } from "../../../shared/names/qualified-name.js";
import { DeclaredBlocks } from "../declared-blocks.js";
import type { LockBlock, LockEntry, LockParam } from "../lock.js";
import { printName } from "../print.js";
import { isPathEnd } from "../shape-path.js";
import { shareAnyName } from "./pair-members.js";

/**
 * The last character of the path of a new member that has the former name of a renamed member. In the base, the plain
 * path belongs to the renamed member. No name contains this character, because unusual names are written as JSON.
 */
const newMemberMark = "\0";

/** Returns a path in the notation of the lock. */
export function plainPath(path: string): string {
  return path.replaceAll(newMemberMark, "");
}

export class PathAliases {
  readonly #names = new Map<string, string>();

  apply(path: string): string {
    // The longest prefix is used, because members of renamed members are stored with their complete paths.
    let best: string | undefined;
    for (const from of this.#names.keys()) {
      const fits = path.startsWith(from) && isPathEnd(path.slice(from.length));
      if (fits && from.length > (best?.length ?? 0)) best = from;
    }
    return best === undefined ? path : this.#names.get(best) + path.slice(best.length);
  }

  /** Adds the renamed members of a block, compared with another version of it, whose path is `name`. */
  note(block: LockBlock, other: LockBlock, name: string): void {
    const pathHere = (entry: LockEntry) => pathTo(block.name, entry);
    const pathThere = (entry: LockEntry) => pathTo(name, entry);
    for (const [entry, twin] of this.#noteMembers(block.entries, other.entries, shareAnyName, pathHere, pathThere)) {
      this.#noteMembers(
        entry.params?.entries ?? [],
        twin.params?.entries ?? [],
        () => true,
        (param) => `${pathHere(entry)}.${printName(param.name)}`,
        (param) => `${pathThere(twin)}.${printName(param.name)}`,
      );
    }
  }

  /** @returns the pairs of members that are the same in both versions */
  #noteMembers<M extends LockParam>(
    members: readonly M[],
    others: readonly M[],
    isSame: (member: M, other: M) => boolean,
    pathHere: (member: M) => string,
    pathThere: (member: M) => string,
  ): readonly (readonly [M, M])[] {
    const byId = new Map(others.map((other) => [other.id, other]));
    const twins: (readonly [M, M])[] = [];
    const fresh: M[] = [];
    const formerNames = new Set<string>();
    for (const member of members) {
      const twin = byId.get(member.id);
      if (twin === undefined || !isSame(member, twin)) {
        fresh.push(member);
        continue;
      }
      twins.push([member, twin]);
      if (twin.name !== member.name) formerNames.add(twin.name);
      this.add(pathHere(member), pathThere(twin));
    }
    for (const member of fresh) {
      if (formerNames.has(member.name)) this.add(pathHere(member), `${pathThere(member)}${newMemberMark}`);
    }
    return twins;
  }

  /** Adds an alias: the path or name `from` is `to` in the other version. */
  add(from: string, to: string): void {
    if (from !== to) this.#names.set(from, to);
  }
}

/** Returns whether two names of a declaration differ only in the namespace. */
export function areInOtherNamespaces(a: string, b: string): boolean {
  return a !== b && simpleName(a) === simpleName(b) && isQualifiedName(a) && isQualifiedName(b);
}

/** Returns the names of declarations that were in another namespace in the base, with their names there. */
function movedNames(base: readonly LockBlock[], side: readonly LockBlock[]): readonly (readonly [string, string])[] {
  const keyOf = ({ kind, name }: LockBlock) => `${kind} ${name}`;
  const before = new Set(base.map(keyOf));
  const now = new Set(side.map(keyOf));
  const declared = new DeclaredBlocks(base);
  const here = new DeclaredBlocks(side);
  const isGone = (block: LockBlock) => !now.has(keyOf(block));
  return side.flatMap((block) => {
    if (before.has(keyOf(block)) || block.retired || !here.has(block)) return [];
    const moved = declared.moved(block.kind, block.name, block.module, isGone);
    return moved === undefined ? [] : [[block.name, moved.name] as const];
  });
}

function pathTo(block: string, { id, name }: LockEntry): string {
  return id === 0 ? `${block}()` : `${block}.${printName(name)}`;
}

/** Returns the name of each block of a version in the base, or the name that it would have there. */
export function namesInBase(base: readonly LockBlock[], side: readonly LockBlock[]): ReadonlyMap<LockBlock, string> {
  const aliases = new PathAliases();
  const names = new Map<LockBlock, string>();
  const byName = new Map<string, LockBlock[]>();
  for (const block of base) {
    const key = `${block.kind} ${block.name}`;
    const known = byName.get(key);
    if (known === undefined) byName.set(key, [block]);
    else known.push(block);
  }
  for (const [now, before] of movedNames(base, side)) aliases.add(now, before);
  const literal = new Set(side.map(({ kind, name }) => `${kind} ${name}`));
  for (const block of [...side].sort((a, b) => a.name.length - b.name.length)) {
    const alias = aliases.apply(block.name);
    // A block that exists under the name keeps it, unless a member in its path has been renamed.
    const isTaken = literal.has(`${block.kind} ${alias}`) && aliases.apply(alias) === alias;
    const name = isTaken ? block.name : alias;
    names.set(block, name);
    const known = byName.get(`${block.kind} ${name}`);
    const twin = known?.find(({ module }) => module === block.module) ?? known?.[0];
    if (twin !== undefined) aliases.note(block, twin, name);
  }
  return names;
}

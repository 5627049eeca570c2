/**
 * Shapes written in place are known by the members on the way to them. When one of those is renamed, or the declaration moves
 * into a namespace or out of one, the path is another and the shape is the same.
 */
import { isQualifiedName, simpleName } from "../../../shared/names/qualified-name.js";
import { DeclaredBlocks } from "../declared-blocks.js";
import type { LockBlock, LockEntry, LockParam } from "../lock.js";
import { printName } from "../print.js";
import { isPathEnd } from "../shape-path.js";
import { shareAnyName } from "./pair-members.js";

/**
 * Ends the path of a new member that has the former name of a renamed one. In the base, that path belongs to the renamed
 * member. No name has this character: names that are no plain words are written as JSON.
 */
const newMemberMark = "\0";

/** A path as the lock writes it. */
export function plainPath(path: string): string {
  return path.replaceAll(newMemberMark, "");
}

export class PathAliases {
  readonly #names = new Map<string, string>();

  apply(path: string): string {
    // The longest that fits: members of renamed members were noted with the whole path.
    let best: string | undefined;
    for (const from of this.#names.keys()) {
      const fits = path.startsWith(from) && isPathEnd(path.slice(from.length));
      if (fits && from.length > (best?.length ?? 0)) best = from;
    }
    return best === undefined ? path : this.#names.get(best) + path.slice(best.length);
  }

  /** Notes what is called otherwise in another version of a block, which has the path `name` there. */
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

  /** @returns members of both versions that are the same one */
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

  /** Notes that the declaration `from` is called `to` in another version. */
  add(from: string, to: string): void {
    if (from !== to) this.#names.set(from, to);
  }
}

/** Whether two names of a declaration differ in its namespace alone. */
export function areInOtherNamespaces(a: string, b: string): boolean {
  return a !== b && simpleName(a) === simpleName(b) && isQualifiedName(a) && isQualifiedName(b);
}

/** The blocks of a version whose declaration stood in another namespace in the base, or in none, with their names there. */
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

/** What each block of a version is called in the base, or would be. */
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
    // A block that has the name itself keeps it, unless a member on the way to it has been renamed.
    const isTaken = literal.has(`${block.kind} ${alias}`) && aliases.apply(alias) === alias;
    const name = isTaken ? block.name : alias;
    names.set(block, name);
    const known = byName.get(`${block.kind} ${name}`);
    const twin = known?.find(({ module }) => module === block.module) ?? known?.[0];
    if (twin !== undefined) aliases.note(block, twin, name);
  }
  return names;
}

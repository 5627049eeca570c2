/**
 * Shapes written in place are known by the members on the way to them. When one of those is renamed, the path is another
 * and the shape is the same.
 */
import { constructorEntry, type LockBlock, type LockEntry } from "../lock.js";
import { isPathEnd } from "../path.js";
import { printName } from "../print.js";
import { areRelated } from "./pair.js";

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
    const byId = new Map(other.entries.map((entry) => [entry.id, entry]));
    for (const entry of block.entries) {
      const twin = byId.get(entry.id);
      if (twin === undefined || !(block.kind === "enum" || areRelated(entry, twin))) continue;
      const [from, to] = [pathTo(block.name, entry), pathTo(name, twin)];
      this.#add(from, to);
      for (const { id, name: param } of entry.params?.entries ?? []) {
        const before = twin.params?.entries.find((candidate) => candidate.id === id);
        if (before !== undefined) this.#add(`${from}.${printName(param)}`, `${to}.${printName(before.name)}`);
      }
    }
  }

  #add(from: string, to: string): void {
    if (from !== to) this.#names.set(from, to);
  }
}

function pathTo(block: string, { id, name }: LockEntry): string {
  return id === 0 && name === constructorEntry ? `${block}()` : `${block}.${printName(name)}`;
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
  const literal = new Set(side.map(({ kind, name }) => `${kind} ${name}`));
  for (const block of [...side].sort((a, b) => a.name.length - b.name.length)) {
    const alias = aliases.apply(block.name);
    // Whoever is called so himself goes first.
    const name = literal.has(`${block.kind} ${alias}`) ? block.name : alias;
    names.set(block, name);
    const known = byName.get(`${block.kind} ${name}`);
    const twin = known?.find(({ module }) => module === block.module) ?? known?.[0];
    if (twin !== undefined) aliases.note(block, twin, name);
  }
  return names;
}

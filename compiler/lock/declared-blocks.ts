/**
 * Finds the blocks of declarations in a lock. A name with dots is either the name of a type in a namespace,
 * `Order.Line`, or the path of an inline shape of a member, `Order.line`. The schema reader rejects schemas in which
 * one name is both.
 */
import { isQualifiedName, namespaceOf, simpleName } from "../../shared/names/qualified-name.js";
import type { BlockKind, LockBlock, LockEntry } from "./lock.js";

export class DeclaredBlocks {
  readonly #blocks: readonly LockBlock[];
  /** The blocks by module and name. A declaration can have blocks of several kinds. */
  readonly #byName = new Map<string, LockBlock[]>();

  constructor(blocks: readonly LockBlock[]) {
    this.#blocks = blocks;
    for (const block of blocks) {
      const key = placeOf(block);
      const same = this.#byName.get(key);
      if (same === undefined) this.#byName.set(key, [block]);
      else same.push(block);
    }
  }

  /** Returns whether a block belongs to a declaration and not to an inline shape. */
  has({ name, module }: Pick<LockBlock, "name" | "module">): boolean {
    if (!isQualifiedName(name)) return false;
    for (let path = name; namespaceOf(path) !== ""; path = namespaceOf(path)) {
      const owners = this.#byName.get(placeOf({ name: namespaceOf(path), module })) ?? [];
      const member = simpleName(path);
      if (owners.some(({ entries }) => entries.some((entry) => entry.name === member && holdsShape(entry))))
        return false;
    }
    return true;
  }

  /**
   * Returns the block of a declaration that has moved to another namespace of its file. It is the only live block of
   * its kind and simple name in the file whose own declaration is gone. Returns undefined if there is no such block, or
   * several.
   * @param isGone returns whether the declaration of a block is gone
   */
  moved(kind: BlockKind, name: string, module: string, isGone: (block: LockBlock) => boolean): LockBlock | undefined {
    const candidates = this.#blocks.filter(
      (block) =>
        block.kind === kind &&
        block.module === module &&
        !block.retired &&
        block.name !== name &&
        simpleName(block.name) === simpleName(name) &&
        isGone(block) &&
        this.has(block),
    );
    return candidates.length === 1 ? candidates[0] : undefined;
  }
}

function placeOf({ name, module }: Pick<LockBlock, "name" | "module">): string {
  return `${name} in ${module}`;
}

/** Returns whether the type of a member contains an inline shape, now or before the member was removed. */
function holdsShape({ type, params }: LockEntry): boolean {
  const texts = [type, ...(params?.entries ?? []).map((param) => param.type)];
  return texts.some((text) => /(?<![\p{L}\p{N}_$.])(?:message|oneof|union|enum)(?![\p{L}\p{N}_$.])/u.test(text));
}

/**
 * Caches the layouts of declarations as texts in watch mode. Equal texts mean equal layouts. A layout depends on all
 * types that a declaration reaches. If a declaration and the layouts of its targets are unchanged, its layout is
 * unchanged.
 */
import { targetsOf } from "../../model/resolve.js";
import type { DeclarationKey, Shape } from "../../model/type.js";
import { lockstepLayoutsOf } from "./codec/index.js";
import type { EmitContext } from "./emit-context.js";

interface KnownLayout {
  readonly fingerprint: bigint;
  readonly shape: Shape;
  readonly text: string;
  /** The layouts of the targets, in the order of `targetsOf`. Undefined if the layout depends on more than these. */
  readonly targets: readonly string[] | undefined;
}

export class LayoutMemory {
  #known: ReadonlyMap<DeclarationKey, KnownLayout> = new Map();

  /** Returns the layouts of all declarations without type parameters. */
  layoutTexts(context: EmitContext): ReadonlyMap<DeclarationKey, string> {
    const { index, fingerprints } = context;
    const known = new Map<DeclarationKey, KnownLayout>();
    const texts = new Map<DeclarationKey, string>();
    for (const key of fingerprints.inOrder()) {
      const { shape, typeParameters } = index.type(key);
      if (typeParameters.length > 0) continue;
      const fingerprint = fingerprints.declaration(key);
      const targets = this.#targets(key, context, texts);
      const before = this.#known.get(key);
      const isSame = before?.fingerprint === fingerprint || isUnchanged(before, shape, targets);
      const text = before !== undefined && isSame ? before.text : layoutText(key, context);
      texts.set(key, text);
      known.set(key, { fingerprint, shape, text, targets });
    }
    this.#known = known;
    return texts;
  }

  /**
   * Returns the layouts of a declaration's targets. Returns undefined for aliases and references to aliases or generic
   * types, whose content matters, and for cycles, which must be processed as a whole.
   */
  #targets(
    key: DeclarationKey,
    { index, fingerprints }: EmitContext,
    texts: ReadonlyMap<DeclarationKey, string>,
  ): readonly string[] | undefined {
    const { shape } = index.type(key);
    if (fingerprints.circular(key) || shape.kind === "alias") return undefined;
    const targets: string[] = [];
    for (const target of targetsOf(shape)) {
      const text = texts.get(target);
      if (text === undefined || index.type(target).shape.kind === "alias") return undefined;
      targets.push(text);
    }
    return targets;
  }
}

function isUnchanged(before: KnownLayout | undefined, shape: Shape, targets: readonly string[] | undefined): boolean {
  if (before?.shape !== shape || before.targets === undefined || targets === undefined) return false;
  return before.targets.every((text, i) => text === targets[i]);
}

function layoutText(key: DeclarationKey, { index }: EmitContext): string {
  const layouts = lockstepLayoutsOf(index);
  const { core, nullable } = layouts.peel({ kind: "ref", target: key, args: [] });
  const held = [layouts.holdsText(core), layouts.holdsBulk(core), layouts.holdsTensors(core)];
  return [nullable, layouts.slotSize(core), ...held, layouts.isRecursive(core)].join(",");
}

/**
 * Replaces the fingerprints in a generated text. A fingerprint changes with every type that the declaration reaches,
 * while the rest of the text stays the same. Therefore the fingerprints of the existing text are replaced.
 */
import type { Fingerprints } from "../../model/fingerprint.js";
import type { Module } from "../../model/index.js";
import { hex64 } from "../kit/index.js";

/** A fingerprint in a text, and the function that computes it again. */
export interface EmbeddedFingerprint {
  readonly hex: string;
  readonly recompute: (fingerprints: Fingerprints, module: Module) => bigint;
}

/** A text and its fingerprints. */
export interface FingerprintedText {
  readonly text: string;
  readonly fingerprints: readonly EmbeddedFingerprint[];
  /** The text, split so that every second piece is a fingerprint. Undefined until a fingerprint has changed. */
  readonly pieces?: readonly string[];
}

/** Returns the same fingerprints, and adds each requested fingerprint to `asked`. */
export function recordFingerprints(
  fingerprints: Fingerprints,
  module: Module,
  asked: EmbeddedFingerprint[],
): Fingerprints {
  const ask = (again: EmbeddedFingerprint["recompute"]): bigint => {
    const value = again(fingerprints, module);
    asked.push({ hex: digits(value), recompute: again });
    return value;
  };
  return {
    type: (type) => ask((current) => current.type(type)),
    declaration: (key) => ask((current) => current.declaration(key)),
    transparent: (key) => fingerprints.transparent(key),
    circular: (key) => fingerprints.circular(key),
    inOrder: () => fingerprints.inOrder(),
    actor: (key) => ask((current) => current.actor(key)),
    task: (key) => ask((current) => current.task(key)),
    module: () => ask((current, now) => current.module(now)),
  };
}

function digits(fingerprint: bigint): string {
  return hex64(fingerprint).replace(/n$/, "");
}

/**
 * Returns the text with the current fingerprints, or undefined if two fingerprints that were equal now differ, because
 * the text does not tell them apart.
 */
export function replaceFingerprints<P extends FingerprintedText>(
  printed: P,
  fingerprints: Fingerprints,
  module: Module,
): P | undefined {
  const changes = new Map<string, string>();
  let isSame = true;
  const asked: EmbeddedFingerprint[] = [];
  for (const { hex, recompute: again } of printed.fingerprints) {
    const now = digits(again(fingerprints, module));
    const before = changes.get(hex) ?? now;
    if (before !== now) return undefined;
    if (now !== hex) isSame = false;
    changes.set(hex, now);
    asked.push({ hex: now, recompute: again });
  }
  if (isSame) return printed;
  const before = printed.pieces ?? printed.text.split(/\b(0x[0-9a-f]{16})/);
  const pieces = before.map((piece, i) => (i % 2 === 0 ? piece : (changes.get(piece) ?? piece)));
  return { ...printed, text: pieces.join(""), pieces, fingerprints: asked };
}

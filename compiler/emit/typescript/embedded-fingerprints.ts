/**
 * The fingerprints in a text. They change with everything that is behind a type, and nothing else of the text does: so they
 * are put into the text that is there.
 */
import type { Fingerprints } from "../../model/fingerprint.js";
import type { Module } from "../../model/index.js";
import { hex64 } from "../kit/index.js";

/** A fingerprint that a text was made with, and how it is found again. */
export interface EmbeddedFingerprint {
  readonly hex: string;
  readonly recompute: (fingerprints: Fingerprints, module: Module) => bigint;
}

/** A text, and the fingerprints in it. */
export interface FingerprintedText {
  readonly text: string;
  readonly fingerprints: readonly EmbeddedFingerprint[];
  /** The text, every other piece a fingerprint. Undefined: none has changed yet. */
  readonly pieces?: readonly string[];
}

/** The same fingerprints; each one that is asked for is noted in `asked`. */
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
    module: () => ask((current, now) => current.module(now)),
  };
}

function digits(fingerprint: bigint): string {
  return hex64(fingerprint).replace(/n$/, "");
}

/** The text with the fingerprints of now. Undefined: two that were equal are so no longer, and it does not tell which is which. */
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

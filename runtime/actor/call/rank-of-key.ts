/**
 * Chooses the rank of a key by rendezvous hashing: each living rank has a weight for the key, and the heaviest wins. When a
 * rank is lost, only its own keys move, spread over all others, and they return when the rank is back.
 */
import { FNV1A_START, fnv1a } from "../../../shared/hash/fnv1a.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { baseRank } from "../../shape/index.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { MeshView } from "../reference/mesh-view.js";
import { isLiving } from "./living-ranks.js";

/** The largest size of a key in bytes of UTF-8. Keys are sent with each message. */
const MOST_KEY_BYTES = 1024;

/**
 * @throws {TypeError} when the key is no text, or no valid Unicode
 * @throws {RangeError} when the key is empty or too long
 */
export function checkKey(meshName: string, key: string): void {
  const failed = `cannot find the actor of a key in mesh "${meshName}"`;
  if (typeof key !== "string") throw new TypeError(`${failed}: expected a string as key, got ${describeValue(key)}`);
  // A character has at most three bytes for each UTF-16 unit, so most keys need not be encoded.
  const bytes = key.length * 3 <= MOST_KEY_BYTES ? key.length : Buffer.byteLength(key);
  if (bytes < 1 || bytes > MOST_KEY_BYTES) {
    const got = bytes === 0 ? "an empty string" : `${bytes}`;
    throw new RangeError(
      `${failed}: expected a key of 1 to ${MOST_KEY_BYTES} bytes, got ${got}; use a hash of long keys`,
    );
  }
  if (!key.isWellFormed()) {
    throw new TypeError(
      `${failed}: expected a key of whole characters, got half of a surrogate pair in ${describeValue(key)}`,
    );
  }
}

/**
 * Returns the living rank of a view that a key belongs to. If no rank lives, it is the one that the key belongs to when all
 * live, and a call to it rejects with the reason.
 */
export function rankOfKey(view: MeshView, sender: LocalActor, key: string): number {
  const hash = hashText(key);
  let heaviest = -1;
  let among = -1;
  let heaviestLiving = -1;
  let livingRank = -1;
  for (let rank = 0; rank < view.size; rank++) {
    // The rank in the spawned mesh, so that all slices with the actor agree on it.
    const weight = weightOf(hash, baseRank(view.region, rank));
    if (weight > heaviest) {
      heaviest = weight;
      among = rank;
    }
    if (weight > heaviestLiving && isLiving(view, sender, rank)) {
      heaviestLiving = weight;
      livingRank = rank;
    }
  }
  return livingRank === -1 ? among : livingRank;
}

/** Returns the hash of the two bytes of each UTF-16 unit. */
function hashText(text: string): number {
  let hash = FNV1A_START;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = fnv1a(fnv1a(hash, unit & 0xff), unit >>> 8);
  }
  return hash;
}

/** Mixes hash and rank by the finalizer of MurmurHash3, whose every input bit changes each output bit half of the time. */
function weightOf(hash: number, rank: number): number {
  let h = hash ^ Math.imul(rank + 1, 0x9e37_79b1);
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

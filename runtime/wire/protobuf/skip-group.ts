/** Skips groups. Viceroy never writes groups, but other protobuf writers can. */

import { CodecRefusal } from "../codec-refusal.js";
import { MAX_DEPTH } from "../limits.js";

interface Skipping {
  position: number;
  readonly end: number;
  readonly depth: number;
  tag(): number;
  skip(tag: number): void;
}

/** Skips the group `number`, whose tag was just read. Uses no recursion, so that nested groups cannot overflow the stack. */
export function skipGroup(r: Skipping, number: number): void {
  const open = [number];
  while (open.length > 0) {
    if (r.depth + open.length > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
    if (r.position >= r.end) throw new CodecRefusal(`invalid group: group ${open.at(-1)} does not end`);
    const tag = r.tag();
    const inner = tag >>> 3;
    if ((tag & 7) === 3 && inner > 0) open.push(inner);
    else if ((tag & 7) === 4 && inner > 0) {
      if (open.pop() !== inner) throw new CodecRefusal(`invalid group: group ${inner} ends where another one began`);
    } else r.skip(tag);
  }
}

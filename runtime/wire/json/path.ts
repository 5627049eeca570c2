/** Where in a value something is, for errors. */
import { located, type Segment, show } from "../refused.js";

/** Does `step`; what it refuses is in the part that `segment` names. */
export function within<T>(segment: Segment, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw located(error, segment);
  }
}

/** `tags.keys()[2]`: the third key. */
export function keySegment(index: number): Segment {
  return { text: `.keys()[${index}]` };
}

/** `tags["a"]`. */
export function valueSegment(key: unknown): Segment {
  return { text: `[${show(key)}]` };
}

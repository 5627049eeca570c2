/** Where in a value something is, for errors. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { type PathSegment, withPathSegment } from "../codec-refusal.js";

/** Does `step`; what it refuses is in the part that `segment` names. */
export function atSegment<T>(segment: PathSegment, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw withPathSegment(error, segment);
  }
}

/** `tags.keys()[2]`: the third key. */
export function keySegment(index: number): PathSegment {
  return { text: `.keys()[${index}]` };
}

/** `tags["a"]`. */
export function valueSegment(key: unknown): PathSegment {
  return { text: `[${describeValue(key)}]` };
}

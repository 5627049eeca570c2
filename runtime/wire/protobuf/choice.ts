/** The cases of a oneof and the variants of a union, as fields of a message: at most one of them is set. */
import { Refused, type Segment, show } from "../refused.js";
import { type Element, elementOf, within } from "./place.js";
import type { Case } from "./position.js";
import type { ProtobufReader } from "./reader.js";

/** The name of the case, or of the variant, that a schema does not know. Its bytes are among the unknown fields. */
export const unknownCase = "$unknown";

export interface Choice extends Case {
  readonly element: Element;
}

/** What was read: the last case that came. */
export interface Chosen {
  name: string | undefined;
  value: unknown;
  unknown: Uint8Array | undefined;
}

export class Choices {
  readonly #byName: ReadonlyMap<string, Choice>;
  readonly #byNumber: ReadonlyMap<number, Choice>;

  constructor(cases: readonly Case[]) {
    const choices = cases.map((one): Choice => ({ ...one, element: elementOf(one.codec) }));
    this.#byName = new Map(choices.map((choice) => [choice.name, choice]));
    this.#byNumber = new Map(choices.map((choice) => [choice.number, choice]));
  }

  named(name: unknown): Choice | undefined {
    return this.#byName.get(name as string);
  }

  /** The case of a field that comes with this tag. */
  tagged(tag: number): Choice | undefined {
    const choice = this.#byNumber.get(tag >>> 3);
    return choice?.element.wire === (tag & 7) ? choice : undefined;
  }

  [Symbol.iterator](): Iterator<Choice> {
    return this.#byName.values();
  }

  /**
   * Reads the fields of a message that is a oneof, on top of what came before.
   * @param segment where the value of a case is, for errors
   */
  read(r: ProtobufReader, end: number, chosen: Chosen, segment: Segment = { text: "" }): void {
    while (r.position < end) {
      const tag = r.tag();
      const choice = this.tagged(tag);
      if (choice === undefined) chosen.unknown = r.unknown(tag, chosen.unknown);
      else {
        const before = chosen.name === choice.name ? chosen.value : undefined;
        chosen.value = within(segment, r.tracing, () => choice.element.read(r, before));
        chosen.name = choice.name;
      }
    }
  }

  /** None has come. */
  missing(type: string): Refused {
    return new Refused(`invalid ${type}: expected ${namesOf([...this.#byName.keys()])}, got none of them`);
  }
}

/** `"a", "b" or "c"`; of many the first ones. */
export function namesOf(values: readonly unknown[]): string {
  const shown = values.slice(0, 8).map(show);
  if (values.length > 8) return `${shown.join(", ")} or one of ${values.length - 8} more`;
  return shown.length <= 1 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

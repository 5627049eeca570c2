/** The cases of a oneof and the variants of a union, as fields of a message: at most one of them is set. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { CodecRefusal, type PathSegment } from "../codec-refusal.js";
import { atSegment, type SingleField, singleFieldOf } from "./member-field.js";
import type { ChoiceMember } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";

/** The name of a case or variant that the schema does not have. Its bytes are among the unknown fields. */
export const unknownCase = "$unknown";

export interface ChoiceField extends ChoiceMember {
  readonly element: SingleField;
}

/** The case that was read last. */
export interface ChosenCase {
  name: string | undefined;
  value: unknown;
  unknown: Uint8Array | undefined;
}

export class ChoiceFields {
  readonly #byName: ReadonlyMap<string, ChoiceField>;
  readonly #byNumber: ReadonlyMap<number, ChoiceField>;

  constructor(cases: readonly ChoiceMember[]) {
    const choices = cases.map((one): ChoiceField => ({ ...one, element: singleFieldOf(one.codec) }));
    this.#byName = new Map(choices.map((choice) => [choice.name, choice]));
    this.#byNumber = new Map(choices.map((choice) => [choice.number, choice]));
  }

  named(name: unknown): ChoiceField | undefined {
    return this.#byName.get(name as string);
  }

  /** Returns the case whose field has this tag. */
  withTag(tag: number): ChoiceField | undefined {
    const choice = this.#byNumber.get(tag >>> 3);
    return choice?.element.wire === (tag & 7) ? choice : undefined;
  }

  [Symbol.iterator](): Iterator<ChoiceField> {
    return this.#byName.values();
  }

  /**
   * Reads the fields of a message that is a oneof. The last case replaces the earlier ones.
   * @param segment path segment of the value of a case, for errors
   */
  read(r: ProtobufReader, end: number, chosen: ChosenCase, segment: PathSegment = { text: "" }): void {
    while (r.position < end) {
      const tag = r.tag();
      const choice = this.withTag(tag);
      if (choice === undefined) chosen.unknown = r.unknown(tag, chosen.unknown);
      else {
        const before = chosen.name === choice.name ? chosen.value : undefined;
        chosen.value = atSegment(segment, r.tracing, () => choice.element.read(r, before));
        chosen.name = choice.name;
      }
    }
  }

  /** Returns the refusal of a oneof that was read without any case. */
  missingError(type: string): CodecRefusal {
    return new CodecRefusal(`invalid ${type}: expected ${listNames([...this.#byName.keys()])}, got none of them`);
  }
}

/** Formats the values as `"a", "b" or "c"`. A long list is shortened. */
export function listNames(values: readonly unknown[]): string {
  const shown = values.slice(0, 8).map(describeValue);
  if (values.length > 8) return `${shown.join(", ")} or one of ${values.length - 8} more`;
  return shown.length <= 1 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

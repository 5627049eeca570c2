/** Emits one generated codec: its class and its exported constant. */
import type { SchemaIndex } from "../../../model/resolve.js";
import type { Type } from "../../../model/type.js";
import type { MessageField } from "../../../protobuf/form/form.js";
import {
  assignment,
  type Code,
  type CodeName,
  call,
  code,
  type FileBuilder,
  generic,
  globalName,
  hex64,
  isNameCode,
  type LocalName,
  objectLiteral,
  objectType,
  propertyKey,
  signature,
  stringLiteral,
} from "../../kit/index.js";
import { abiType, abiValue } from "../abi-names.js";
import type { TypePrinter } from "../type-printer.js";
import { type CodecReferences, partHint } from "./lockstep/body.js";
import { inPlaceFields, namedVariants } from "./lockstep/choice.js";
import type { LockstepLayouts } from "./lockstep/lockstep-layouts.js";
import { readFields, writeMessage } from "./lockstep/message.js";
import { type GeneratedType, readStatements, writeStatements } from "./lockstep/methods.js";
import { emitProtobufMethods, emitVariantReaders, type ProtobufCodecSpec } from "./protobuf/methods.js";

export interface CodecSpec {
  readonly generated: GeneratedType;
  /** The base of the names of the class and of private codecs of parts. */
  readonly hint: string;
  /** The name of the type in errors. */
  readonly label: string;
  readonly fingerprint: bigint;
  /** The type of the values, as code. */
  readonly type: Code;
  readonly codec: CodeName;
  readonly exported: boolean;
  readonly slot: number;
  readonly text: boolean;
  readonly bulk: boolean;
  readonly recursive: boolean;
  /** The composed codec with the same behaviour. */
  readonly shape: Code;
  /** The message of a call's arguments in the protobuf layout. */
  readonly parameters?: readonly MessageField[];
}

interface CodecContext {
  readonly file: FileBuilder;
  readonly types: TypePrinter;
  readonly index: SchemaIndex;
  readonly layouts: LockstepLayouts;
  readonly codecs: CodecReferences;
}

export function emitCodec(unit: CodecSpec, surroundings: CodecContext): void {
  const { file } = surroundings;
  const { type, label, fingerprint, slot, text, bulk, recursive } = unit;
  const className = file.local(`${unit.hint}Generated`);
  const variants = nameVariants(unit, surroundings);
  const proto = protoUnit(unit, variants, surroundings);
  const readers = emitVariantReaders(proto, surroundings);
  file.blank();
  const of = (codec: CodeName) => generic(codec, [type], isNameCode(type));
  file.block(code`class ${className} extends ${of(abiValue("GeneratedCodec"))}`, () => {
    emitWrite(unit, variants, surroundings);
    file.blank();
    emitRead(unit, variants, surroundings);
    emitMessageMethods(unit, surroundings);
    emitProtobufMethods(proto, readers, surroundings);
    file.blank();
    file.block(code`override shape(): ${of(abiType("Codec"))}`, () => file.line("return ", unit.shape, ";"));
  });
  file.blank();
  const flags = Object.entries({ text, bulk, recursive }).flatMap(([name, is]) => (is ? [`${name}: true`] : []));
  const layout = objectLiteral([`slot: ${slot}`, ...flags]);
  const head = code`${unit.exported ? "export " : ""}const ${unit.codec}: ${of(abiType("Codec"))}`;
  const made = call(code`new ${className}`, [stringLiteral(label), hex64(fingerprint), layout]);
  file.line(assignment(head, made), ";");
}

function protoUnit(unit: CodecSpec, variants: Variants, { layouts }: CodecContext): ProtobufCodecSpec {
  const { generated } = unit;
  const own = (type: Type) => (generated.kind === "union" ? inPlaceFields(layouts, generated, type) : undefined);
  return { ...unit, variants, own };
}

type Variants = ReadonlyMap<string, LocalName>;

/** Declares names for the types of variants that have no name in the schema. */
function nameVariants({ generated, hint, type }: CodecSpec, { file, layouts }: CodecContext): Variants {
  const tags = namedVariants(layouts, generated);
  const names = tags.map((tag): [string, LocalName] => [tag, file.local(partHint(hint, tag))]);
  for (const [tag, name] of names) {
    const discriminant = generated.kind === "union" ? generated.discriminant : "";
    const own = objectType([code`${propertyKey(discriminant)}: ${stringLiteral(tag)}`]);
    file.blank();
    file.line(assignment(code`type ${name}`, generic(globalName("Extract"), [type, own])), ";");
  }
  return new Map(names);
}

/** Emits the methods that write and read a whole message, with the sizes of its header and slot as constants. */
function emitMessageMethods({ slot, text, bulk, type }: CodecSpec, { file }: CodecContext): void {
  const head = (text ? 4 : 0) + (bulk ? 4 : 0);
  const size = head + slot;
  const at = head === 0 ? "" : ` + ${head}`;
  file.blank();
  const writer = [code`w: ${abiType("Writer")}`, code`value: ${type}`];
  file.block(["protected override writeMessage", signature(writer, "void")], () => {
    file.line(`this.write(w, w.begin(${size})${at}, value);`);
    if (text) file.line("w.finishText(w.start);");
    if (bulk) file.line(text ? "w.finishBulk(w.start + 4);" : "w.finishBulk(w.start);");
  });
  file.blank();
  file.block(["protected override readMessage", signature([code`r: ${abiType("Reader")}`], type)], () => {
    if (!bulk) {
      file.line(
        text
          ? `return r.endText(this.read(r, r.beginText(${size})));`
          : `return r.endBody(this.read(r, r.begin(${size})));`,
      );
      return;
    }
    file.line(`const start = r.begin(${size});`);
    file.line(text ? "r.openBulk(start, start + 4);" : "r.openBulk(start, start);");
    if (text) file.line("r.openText(start);");
    file.line(`const value = this.read(r, start${at});`);
    file.line("r.closeBody();");
    if (text) file.line("r.closeText();");
    file.line("r.closeBulk();");
    file.line("return value;");
  });
}

const messages = { write: writeMessage, read: readFields };

function emitWrite(unit: CodecSpec, variants: Variants, { file, types, layouts, codecs }: CodecContext): void {
  const scope = file.scope();
  const [w, at, value] = [scope.name("w"), scope.name("at"), scope.name("value")];
  const params = [code`${w}: ${abiType("Writer")}`, code`${at}: number`, code`${value}: ${unit.type}`];
  const leave = (): void => {};
  file.block(["override write", signature(params, "void")], () => {
    if (unit.recursive) file.line(code`${w}.enter();`);
    const { hint, type } = unit;
    writeStatements(
      { file, scope, types, layouts, codecs, messages, hint, io: w, at, value, type, variants, emitReturn: leave },
      unit.generated,
    );
    if (unit.recursive) file.line(code`${w}.leave();`);
  });
}

function emitRead(unit: CodecSpec, variants: Variants, { file, types, layouts, codecs }: CodecContext): void {
  const scope = file.scope();
  const [r, at, value] = [scope.name("r"), scope.name("at"), scope.name("value")];
  const leave = (result: Code): void => {
    if (!unit.recursive) {
      file.line(code`return ${result};`);
      return;
    }
    const whole: LocalName = scope.name("whole");
    file.line(assignment(code`const ${whole}: ${unit.type}`, result), ";");
    file.line(code`${r}.leave();`);
    file.line(code`return ${whole};`);
  };
  const params = [code`${r}: ${abiType("Reader")}`, code`${at}: number`];
  file.block(["override read", signature(params, unit.type)], () => {
    if (unit.recursive) file.line(code`${r}.enter();`);
    const { hint, type } = unit;
    readStatements(
      { file, scope, types, layouts, codecs, messages, hint, io: r, at, value, type, variants, emitReturn: leave },
      unit.generated,
    );
  });
}

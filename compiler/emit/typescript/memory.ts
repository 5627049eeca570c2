/**
 * What was emitted for each schema file, for as long as the compiler watches: a file is emitted again when its own model
 * differs, or something of another file that its text depends on; and then, of its parts, those for which that is so.
 * Fingerprints depend on much more; when nothing else differs, they are put into the text that is there.
 */
import type { Module } from "../../model/index.js";
import { sameData } from "../../model/same.js";
import type { DeclarationKey } from "../../model/type.js";
import { declaredName } from "../../protobuf/declared-names.js";
import { enumsIn } from "../../protobuf/enum-names.js";
import type { FileBuilder, Recording } from "../kit/index.js";
import { type Asked, type Printed, recorded, withFingerprints } from "./asked.js";
import type { EmitContext } from "./context.js";
import { type Declarations, Facts } from "./facts.js";
import { LayoutMemory } from "./layout-memory.js";

/** Writes a part of a file; `id` is that of no other part, and `of` all that it is made from. */
export type WritePart = (file: FileBuilder, id: string, of: Declarations, write: () => void) => void;

interface Remembered extends Printed {
  readonly packageName: string;
  /** Of enums that are written in place: they depend on what else has names. */
  readonly enumNames: string;
  /** The names in protobuf of declared types, which depend on what else is called like their namespaces. */
  readonly declaredNames: string;
  /** What its text depends on: see `Facts`. */
  readonly facts: ReadonlyMap<DeclarationKey, string>;
}

interface RememberedFile extends Remembered {
  /** The same object as long as nothing in it differs. */
  readonly module: Module;
  readonly parts: ReadonlyMap<string, RememberedPart>;
}

interface RememberedPart extends Remembered {
  readonly of: Declarations;
  readonly recording: Recording;
}

export class EmitMemory {
  readonly #files = new Map<string, RememberedFile>();
  readonly #layouts = new LayoutMemory();
  /** For as long as there is the context: it keeps the compiler alive, which results must not. */
  readonly #facts = new WeakMap<EmitContext, Facts>();

  /** The text of a module: remembered, or emitted with the context and the parts that are handed to `emit`. */
  text(module: Module, context: EmitContext, emit: (context: EmitContext, part: WritePart) => string): string {
    const known = this.#files.get(module.path);
    if (known?.module === module && this.#isStill(known, module, module, context)) {
      const now = withFingerprints(known, context.fingerprints, module);
      if (now !== undefined) {
        this.#files.set(module.path, now);
        return now.text;
      }
    }
    const asked: Asked[] = [];
    const parts = new Map<string, RememberedPart>();
    const within = { ...context, fingerprints: recorded(context.fingerprints, module, asked) };
    const text = emit(within, (file, id, of, write) => {
      const part = this.#part(known?.parts.get(id), of, module, context);
      const from = asked.length;
      const recording = file.part(part?.recording, write);
      if (part !== undefined && recording === part.recording) {
        asked.push(...part.asked);
        parts.set(id, part);
      } else if (recording !== undefined) {
        const printed = { text: recording.text ?? "", asked: asked.slice(from) };
        parts.set(id, { ...this.#dependencies(of, module, context), ...printed, of, recording });
      }
    });
    this.#files.set(module.path, { ...this.#dependencies(module, module, context), module, text, asked, parts });
    return text;
  }

  /** The part as it would be now, but for the names that it is given; undefined: it is not known. */
  #part(
    known: RememberedPart | undefined,
    of: Declarations,
    module: Module,
    context: EmitContext,
  ): RememberedPart | undefined {
    if (known === undefined || !sameData(known.of, of) || !this.#isStill(known, of, module, context)) return undefined;
    const now = withFingerprints(known, context.fingerprints, module);
    if (now === undefined || now === known) return now;
    return { ...now, recording: { ...now.recording, text: now.text } };
  }

  #dependencies(of: Declarations, module: Module, context: EmitContext): Omit<Remembered, keyof Printed> {
    return {
      packageName: context.schema.package,
      enumNames: enumNamesOf(of, context),
      declaredNames: declaredNamesOf(of, module),
      facts: this.#factsOf(context).of(of),
    };
  }

  #isStill(
    { packageName, enumNames, declaredNames, facts }: Remembered,
    of: Declarations,
    module: Module,
    context: EmitContext,
  ): boolean {
    return (
      packageName === context.schema.package &&
      enumNames === enumNamesOf(of, context) &&
      declaredNames === declaredNamesOf(of, module) &&
      this.#factsOf(context).areStill(facts)
    );
  }

  #factsOf(context: EmitContext): Facts {
    let facts = this.#facts.get(context);
    if (facts === undefined) {
      facts = new Facts(context, this.#layouts.of(context));
      this.#facts.set(context, facts);
    }
    return facts;
  }
}

function declaredNamesOf(of: Declarations, module: Module): string {
  return of.types.map(({ name }) => declaredName(name, module)).join(" ");
}

function enumNamesOf(of: Declarations, context: EmitContext): string {
  return enumsIn(of)
    .map((shape) => context.enumName(shape) ?? "")
    .join(" ");
}

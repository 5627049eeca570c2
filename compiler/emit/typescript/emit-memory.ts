/**
 * What was emitted for each schema file, for as long as the compiler watches: a file is emitted again when its own model
 * differs, or something of another file that its text depends on; and then, of its parts, those for which that is so.
 * Fingerprints depend on much more; when nothing else differs, they are put into the text that is there.
 */
import type { Module } from "../../model/index.js";
import { sameData } from "../../model/same-data.js";
import type { DeclarationKey } from "../../model/type.js";
import { protoDeclarationName } from "../../protobuf/declared-names.js";
import { inlineEnumsIn } from "../../protobuf/enum-names.js";
import type { FileBuilder, PartRecording } from "../kit/index.js";
import {
  type EmbeddedFingerprint,
  type FingerprintedText,
  recordFingerprints,
  replaceFingerprints,
} from "./embedded-fingerprints.js";
import type { EmitContext } from "./emit-context.js";
import { LayoutMemory } from "./layout-memory.js";
import { type DeclarationGroup, TextDependencies } from "./text-dependencies.js";

/** Writes a part of a file; `id` is that of no other part, and `of` all that it is made from. */
export type WritePart = (file: FileBuilder, id: string, of: DeclarationGroup, write: () => void) => void;

interface RememberedText extends FingerprintedText {
  readonly packageName: string;
  /** Of enums that are written in place: they depend on what else has names. */
  readonly enumNames: string;
  /** The names in protobuf of declared types, which depend on what else is called like their namespaces. */
  readonly declaredNames: string;
  /** What its text depends on: see `Facts`. */
  readonly dependencies: ReadonlyMap<DeclarationKey, string>;
}

interface RememberedFile extends RememberedText {
  /** The same object as long as nothing in it differs. */
  readonly module: Module;
  readonly parts: ReadonlyMap<string, RememberedPart>;
}

interface RememberedPart extends RememberedText {
  readonly of: DeclarationGroup;
  readonly recording: PartRecording;
}

export class EmitMemory {
  readonly #files = new Map<string, RememberedFile>();
  readonly #layouts = new LayoutMemory();
  /** For as long as there is the context: it keeps the compiler alive, which results must not. */
  readonly #dependencyTexts = new WeakMap<EmitContext, TextDependencies>();

  /** The text of a module: remembered, or emitted with the context and the parts that are handed to `emit`. */
  textOf(module: Module, context: EmitContext, emit: (context: EmitContext, part: WritePart) => string): string {
    const known = this.#files.get(module.path);
    if (known?.module === module && this.#isUnchanged(known, module, module, context)) {
      const now = replaceFingerprints(known, context.fingerprints, module);
      if (now !== undefined) {
        this.#files.set(module.path, now);
        return now.text;
      }
    }
    const asked: EmbeddedFingerprint[] = [];
    const parts = new Map<string, RememberedPart>();
    const within = { ...context, fingerprints: recordFingerprints(context.fingerprints, module, asked) };
    const text = emit(within, (file, id, of, write) => {
      const part = this.#part(known?.parts.get(id), of, module, context);
      const from = asked.length;
      const recording = file.part(part?.recording, write);
      if (part !== undefined && recording === part.recording) {
        asked.push(...part.fingerprints);
        parts.set(id, part);
      } else if (recording !== undefined) {
        const printed = { text: recording.text ?? "", fingerprints: asked.slice(from) };
        parts.set(id, { ...this.#dependencies(of, module, context), ...printed, of, recording });
      }
    });
    this.#files.set(module.path, {
      ...this.#dependencies(module, module, context),
      module,
      text,
      fingerprints: asked,
      parts,
    });
    return text;
  }

  /** The part as it would be now, but for the names that it is given; undefined: it is not known. */
  #part(
    known: RememberedPart | undefined,
    of: DeclarationGroup,
    module: Module,
    context: EmitContext,
  ): RememberedPart | undefined {
    if (known === undefined || !sameData(known.of, of) || !this.#isUnchanged(known, of, module, context))
      return undefined;
    const now = replaceFingerprints(known, context.fingerprints, module);
    if (now === undefined || now === known) return now;
    return { ...now, recording: { ...now.recording, text: now.text } };
  }

  #dependencies(
    of: DeclarationGroup,
    module: Module,
    context: EmitContext,
  ): Omit<RememberedText, keyof FingerprintedText> {
    return {
      packageName: context.schema.package,
      enumNames: enumNamesOf(of, context),
      declaredNames: declaredNamesOf(of, module),
      dependencies: this.#dependencyTextsOf(context).collect(of),
    };
  }

  #isUnchanged(
    { packageName, enumNames, declaredNames, dependencies: facts }: RememberedText,
    of: DeclarationGroup,
    module: Module,
    context: EmitContext,
  ): boolean {
    return (
      packageName === context.schema.package &&
      enumNames === enumNamesOf(of, context) &&
      declaredNames === declaredNamesOf(of, module) &&
      this.#dependencyTextsOf(context).areUnchanged(facts)
    );
  }

  #dependencyTextsOf(context: EmitContext): TextDependencies {
    let facts = this.#dependencyTexts.get(context);
    if (facts === undefined) {
      facts = new TextDependencies(context, this.#layouts.layoutTexts(context));
      this.#dependencyTexts.set(context, facts);
    }
    return facts;
  }
}

function declaredNamesOf(of: DeclarationGroup, module: Module): string {
  return of.types.map(({ name }) => protoDeclarationName(name, module)).join(" ");
}

function enumNamesOf(of: DeclarationGroup, context: EmitContext): string {
  return inlineEnumsIn(of)
    .map((shape) => context.enumName(shape) ?? "")
    .join(" ");
}

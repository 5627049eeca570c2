/**
 * Caches the emitted text of each schema file in watch mode. A file is emitted again if its own model changes, or a
 * property of another file on which its text depends. Then only the affected parts are emitted. Fingerprints depend on
 * much more. If nothing else has changed, they are replaced in the existing text.
 */
import type { Module } from "../../model/index.js";
import type { DeclarationGroup } from "../../model/resolve.js";
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
import { TextDependencies } from "./text-dependencies.js";

/**
 * Writes a part of a file. `id` is unique in the file, and `of` contains all declarations from which the part is made.
 */
export type WritePart = (file: FileBuilder, id: string, of: DeclarationGroup, write: () => void) => void;

interface RememberedText extends FingerprintedText {
  readonly packageName: string;
  /** The names of inline enums, which depend on the other names of the schema. */
  readonly enumNames: string;
  /**
   * The protobuf names of declared types, which depend on the other declarations with the names of their namespaces.
   */
  readonly declaredNames: string;
  /** The properties on which the text depends. See `TextDependencies`. */
  readonly dependencies: ReadonlyMap<DeclarationKey, string>;
}

interface RememberedFile extends RememberedText {
  /** The module. It is the same object while its content is the same. */
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
  /**
   * The dependency texts of each context. The map is weak, because a context refers to the compiler, and results must
   * not keep the compiler in memory.
   */
  readonly #dependencyTexts = new WeakMap<EmitContext, TextDependencies>();

  /**
   * Returns the text of a module, from the cache or from `emit`, which gets the context and the function that writes
   * parts.
   */
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

  /**
   * Returns the cached part with current fingerprints, or undefined if it is missing or out of date. Its names are
   * checked later.
   */
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

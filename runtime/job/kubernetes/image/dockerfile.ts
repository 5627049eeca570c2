/** Reads Dockerfiles: what can be applied when a pod starts, and errors that name the lines that cannot. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { quote } from "../../quote.js";
import { type Instruction, parseWords, readInstructions } from "./dockerfile-lines.js";
import { expandSources, targetOf } from "./dockerfile-sources.js";
import { expandVariables } from "./dockerfile-variables.js";

/** The methods of an image that a Dockerfile calls. */
export interface ImageSteps<I> {
  readonly environment: Readonly<Record<string, string>>;
  env(variables: Readonly<Record<string, string>>): I;
  run(command: string): I;
  workdir(path: string): I;
  copy(from: string, to: string, options: { readonly context: string }): I;
}

/** The reasons why instructions cannot be applied when a pod starts, each with the remedy. */
const refused: Readonly<Record<string, string>> = {
  ARG: "arguments have values only while an image is built; write ENV with the value",
  ADD: "it unpacks archives and downloads; use COPY for files, and RUN for what is downloaded",
  CMD: "the pods run the daemon of Viceroy; remove the line",
  ENTRYPOINT: "the pods run the daemon of Viceroy; remove the line, and write RUN for what must run before it",
  USER: "the pods run as one user; set spec.securityContext.runAsUser in the template of Compute",
  VOLUME: "pods have the volumes of Compute; use its option volumes",
  EXPOSE: "the pods of a mesh reach each other at all ports; remove the line",
  LABEL: "pods have the labels of the template of Compute; use its metadata.labels",
  HEALTHCHECK: "pods have the probes of the job; remove the line",
  SHELL: "commands run with sh; write the other shell in RUN",
  STOPSIGNAL: "pods end with SIGTERM; remove the line",
  ONBUILD: "no image is built; remove the line",
  MAINTAINER: "pods have annotations; remove the line",
};

/**
 * Returns the image of a Dockerfile.
 * @param path the path of the file; COPY copies from its folder
 * @param from makes an image of the name of a container image
 * @throws TypeError with all lines that cannot be applied
 */
export function imageOfDockerfile<I extends ImageSteps<I>>(path: string, from: (name: string) => I): I {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`cannot use the Dockerfile ${path}: ${errorMessage(error)}`, { cause: error });
  }
  const problems: string[] = [];
  let image: I | undefined;
  for (const instruction of readInstructions(path, text)) {
    const { line, name, rest } = instruction;
    try {
      if (name === "FROM") {
        if (image !== undefined)
          throw new TypeError("a second FROM starts another stage, and pods start from one image; remove the stages");
        image = from(baseOf(rest));
      } else if (Object.hasOwn(refused, name)) throw new TypeError(refused[name]);
      else if (image === undefined) throw new TypeError("it is before FROM; write FROM in the first line");
      else image = apply(image, instruction, dirname(path));
    } catch (error) {
      problems.push(`cannot use ${path}:${line}: ${name}: ${errorMessage(error)}`);
      // The instructions after a FROM that is wrong have problems of their own.
      if (name === "FROM") image ??= from("node");
    }
  }
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  if (image === undefined) throw new TypeError(`cannot use ${path}: it has no FROM`);
  return image;
}

function baseOf(rest: string): string {
  const words = rest.split(/\s+/);
  if (words[0]?.startsWith("--")) throw new TypeError(`${words[0]} is an option of builds; remove it`);
  const [name = "", as, , ...others] = words;
  if (others.length > 0 || (as !== undefined && as.toUpperCase() !== "AS")) {
    throw new TypeError(`expected the name of an image, got ${rest}`);
  }
  if (name === "scratch")
    throw new TypeError("an empty image has no Node.js; name an image with Node.js, such as node:22");
  if (name.includes("$")) throw new TypeError(`${name} has a variable, and there are none before FROM; write the name`);
  return name;
}

function apply<I extends ImageSteps<I>>(image: I, { name, rest }: Instruction, folder: string): I {
  switch (name) {
    case "ENV":
      return image.env(parseEnv(rest, image.environment));
    case "RUN":
      return image.run(commandOf(rest));
    case "WORKDIR":
      return image.workdir(expandVariables(parseOne(rest), image.environment));
    case "COPY":
      return copy(image, rest, folder);
    default:
      throw new TypeError("there is no such instruction; FROM, ENV, RUN, COPY and WORKDIR can be used");
  }
}

function commandOf(rest: string): string {
  const flag = /^--\w+/.exec(rest)?.[0];
  if (flag !== undefined) throw new TypeError(`${flag} is an option of builds; remove it`);
  if (/^<<-?["']?\w/.test(rest))
    throw new TypeError("it has its commands in a here-document; write them in lines that end with && \\");
  const words = parseJsonWords(rest);
  return words === undefined ? rest : words.map(quote).join(" ");
}

function copy<I extends ImageSteps<I>>(image: I, rest: string, folder: string): I {
  const flag = /^--[\w-]+/.exec(rest)?.[0];
  if (flag === "--from")
    throw new TypeError(
      "--from copies from another stage or image, and pods start from one image; copy files of this machine",
    );
  if (flag !== undefined)
    throw new TypeError(`${flag} is not supported, because files belong to the user of the pods; remove it`);
  const words = (parseJsonWords(rest) ?? parseWords(rest)).map((word) => expandVariables(word, image.environment));
  const to = words.pop();
  if (to === undefined || words.length === 0) throw new TypeError(`expected sources and a target, got ${rest}`);
  const sources = words.flatMap((source) => expandSources(folder, source));
  let copied = image;
  for (const source of sources) {
    copied = copied.copy(join(folder, source), targetOf(folder, source, to, sources.length), { context: folder });
  }
  return copied;
}

/** Reads `A=1 B="2 3"`, or `A 1 2`. */
function parseEnv(rest: string, known: Readonly<Record<string, string>>): Record<string, string> {
  const [, oldName, oldValue] = /^([^\s=]+)\s+(.*)$/s.exec(rest) ?? [];
  if (oldName !== undefined) return { [oldName]: expandVariables(oldValue!, known) };
  const variables = parseWords(rest).map((word) => {
    const equals = word.indexOf("=");
    if (equals < 1) throw new TypeError(`expected NAME=value, got ${word}`);
    // All variables of an instruction have the values before it.
    return [word.slice(0, equals), expandVariables(word.slice(equals + 1), known)];
  });
  if (variables.length === 0) throw new TypeError("expected NAME=value, got nothing");
  return Object.fromEntries(variables);
}

function parseOne(rest: string): string {
  const words = parseWords(rest);
  if (words.length === 1) return words[0]!;
  throw new TypeError(`expected one path, got ${rest}`);
}

/** Returns the words of the form `["a", "b"]`; undefined for other texts. */
function parseJsonWords(rest: string): string[] | undefined {
  if (!rest.startsWith("[")) return undefined;
  try {
    const words: unknown = JSON.parse(rest);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    // Docker reads this as a command of the shell, too.
    return undefined;
  }
}

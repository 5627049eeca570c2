/** Applies one step of an image. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../../../../shared/text/error-message.js";
import { type CopiedEntry, describeStep, type OrderedStep } from "../steps.js";
import { type CommandEnd, runCommand } from "./run-command.js";
import { StepError } from "./step-error.js";

/** The state that each step leaves to those after it. */
export interface StepState {
  /** The folder with all files of the image. */
  readonly folder: string;
  /** The working directory. */
  directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** The contents of all copied files. */
  readonly archive: Buffer;
  /** Where the contents of the next step begin. */
  offset: number;
  /** Gets the lines that a command prints. */
  readonly print: (line: string) => void;
}

/** @param number the number of the step, from 1 @throws StepError if it fails */
export async function applyStep(state: StepState, step: OrderedStep, number: number): Promise<void> {
  try {
    const end = await apply(state, step);
    if (end !== undefined && end.reason !== undefined)
      throw new StepError(number, describeStep(step), describeEnd(end));
  } catch (error) {
    if (error instanceof StepError) throw error;
    throw new StepError(number, describeStep(step), errorMessage(error), { cause: error });
  }
}

async function apply(state: StepState, step: OrderedStep): Promise<CommandEnd | undefined> {
  switch (step.kind) {
    case "env":
      state.env[step.name] = step.value;
      return undefined;
    case "workdir":
      state.directory = step.path;
      mkdirSync(step.path, { recursive: true });
      return undefined;
    case "copy":
      for (const file of step.files ?? []) writeCopied(state, step.to, file);
      return undefined;
    case "run":
      return run(state, "sh", ["-c", step.command]);
    case "npmInstall": {
      const options = ["--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier"];
      return step.packages.length === 0
        ? run(state, "npm", ["ci", ...options])
        : run(state, "npm", ["install", ...options, "--", ...step.packages]);
    }
  }
}

function run({ directory, env, print }: StepState, program: string, args: readonly string[]): Promise<CommandEnd> {
  mkdirSync(directory, { recursive: true });
  return runCommand(program, args, { cwd: directory, env, print });
}

function describeEnd({ reason, lastLines }: CommandEnd): string {
  return lastLines.length === 0
    ? `${reason}, and has printed nothing`
    : `${reason}, and has printed last:\n${lastLines.join("\n")}`;
}

function writeCopied(state: StepState, to: string, { path, type, isExecutable, length }: CopiedEntry): void {
  const file = path === "" ? to : join(to, path);
  const content = state.archive.subarray(state.offset, state.offset + length);
  state.offset += length;
  if (type === "folder") {
    mkdirSync(file, { recursive: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  // Writing would follow a symbolic link.
  rmSync(file, { recursive: true, force: true });
  if (type === "link") symlinkSync(content.toString(), file);
  else {
    writeFileSync(file, content);
    chmodSync(file, isExecutable ? 0o755 : 0o644);
  }
}

/**
 * `viceroy controller`: runs the controller that gives hosts to programs in pods, in this process until it gets SIGTERM. This file parses the
 * options. The runtime implements the controller.
 */
import { exitCode, type Io } from "../io.js";

/** The options of the command, as they are given. */
export interface ControllerCommandOptions {
  readonly rules: string;
  readonly namespace: string;
  readonly listen: string;
  readonly lease: string;
  readonly kubeconfig?: string;
}

/** The options of `viceroy controller manifest`. */
export interface ControllerManifestOptions {
  readonly rules: string;
  readonly namespace: string;
  readonly image: string;
  readonly lease: string;
}

/** The built program of the controller. */
interface ControllerProgram {
  /** @throws Error with what to do, if an option is malformed or the cluster cannot be used */
  runController(options: ControllerCommandOptions, out: (line: string) => void): Promise<void>;
  /** @throws Error with the line and the field, if the rules cannot be used, or the lease is too short */
  printControllerManifest(options: ControllerManifestOptions): string;
}

export function controller(options: ControllerCommandOptions, io: Io): Promise<number> {
  return withProgram(io, (program) => program.runController(options, io.out));
}

export function controllerManifest(options: ControllerManifestOptions, io: Io): Promise<number> {
  return withProgram(io, async (program) => io.out(program.printControllerManifest(options)));
}

async function withProgram(io: Io, act: (program: ControllerProgram) => Promise<void>): Promise<number> {
  // The compiler never imports the runtime. The built program is in the same package as this file.
  const program = (await import(new URL("../job-controller.js", import.meta.url).href)) as ControllerProgram;
  try {
    await act(program);
    return exitCode.ok;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.err(error.message);
    return exitCode.usage;
  }
}

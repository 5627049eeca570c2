/**
 * Starts controllers as processes of the daemon. A controller ends when its channel to the daemon is closed, so it never
 * outlives the host. A controller that ends is not started again, because its meshes have ended with it.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lazyModules } from "../../lazy-modules.js";
import type { Random } from "../../link/clock.js";
import { Deferred } from "../../link/deferred.js";
import { bootScript, singleExecutable } from "../../proc/platform/boot-script.js";
import { type ControllerAnswer, type ControllerOrder, controllerArgument } from "../hand-over/controller-messages.js";
import type { Controllers } from "./controllers.js";

/** Time in ms for a controller to end in order. */
const endLimit = 1000;

export class ControllerProcesses implements Controllers {
  readonly #random: Random;
  readonly #print: (line: string) => void;
  readonly #controllers = new Map<bigint, ControllerProcess>();
  /** The controllers that serve actors, by the names of the actors. Each resolves when its actor is published. */
  readonly #serving = new Map<string, Promise<void>>();
  #owning = 0;

  /** @param print prints a line about the controllers */
  constructor(random: Random, print: (line: string) => void) {
    this.#random = random;
    this.#print = print;
  }

  async start(state: string): Promise<bigint> {
    const id = this.#random.id();
    const controller = new ControllerProcess();
    this.#controllers.set(id, controller);
    void controller.ended.then((how) => this.#ended(id, controller, how));
    await controller.ask({ prepare: state });
    return id;
  }

  async handOver(id: bigint, state: string): Promise<void> {
    const controller = this.#controllers.get(id);
    if (controller === undefined) throw new Error("the controller has ended");
    await controller.ask({ takeOver: state });
    controller.isOwner = true;
    this.#owning++;
    this.#print(`controller ${controller.pid} has taken over the meshes of a driver; ${this.#count()}`);
  }

  serve(name: string, order: string): Promise<void> {
    let serving = this.#serving.get(name);
    if (serving === undefined) {
      serving = this.#serve(name, order);
      this.#serving.set(name, serving);
    }
    return serving;
  }

  async #serve(name: string, order: string): Promise<void> {
    const id = this.#random.id();
    const controller = new ControllerProcess();
    this.#controllers.set(id, controller);
    void controller.ended.then((how) => {
      this.#serving.delete(name);
      this.#ended(id, controller, how);
    });
    await controller.ask({ serve: order });
    controller.isOwner = true;
    this.#owning++;
    this.#print(`controller ${controller.pid} serves ${name}; ${this.#count()}`);
  }

  end(id: bigint): void {
    this.#controllers.get(id)?.end();
  }

  async endAll(): Promise<void> {
    const controllers = [...this.#controllers.values()];
    for (const controller of controllers) controller.end();
    await Promise.all(controllers.map(({ ended }) => ended));
  }

  #ended(id: bigint, { isOwner, pid }: ControllerProcess, how: string): void {
    this.#controllers.delete(id);
    if (!isOwner) return;
    this.#owning--;
    this.#print(`controller ${pid} has ended, and its meshes with it: ${how}; ${this.#count()}`);
  }

  /** The keeper of a job reads this text (job/keeper/kept-host.ts). */
  #count(): string {
    return `controllers that own meshes: ${this.#owning}`;
  }
}

class ControllerProcess {
  /** Whether it owns the meshes of a driver. */
  isOwner = false;
  /** Resolves with a description of its end. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #answer: Deferred<void> | undefined;

  constructor() {
    const script = bootScript([]);
    const command = script === singleExecutable ? [] : [script];
    const folder = mkdtempSync(join(tmpdir(), "viceroy-controller-"));
    this.#child = lazyModules.childProcess.spawn(process.execPath, [...command, controllerArgument, folder], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (answer: ControllerAnswer) => {
      if (answer.failed === undefined) this.#answer?.resolve();
      else this.#answer?.reject(new Error(answer.failed));
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("error", ({ message }) => resolve(`it could not be started: ${message}`));
      this.#child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    void this.ended.then((how) => {
      rmSync(folder, { recursive: true, force: true });
      this.#answer?.reject(new Error(`its process has ended: ${how}`));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends an order. Rejects with the reason, and ends the process, if the order cannot be carried out. */
  async ask(order: ControllerOrder): Promise<void> {
    const answer = new Deferred<void>();
    this.#answer = answer;
    this.#child.send(order, (error) => {
      if (error !== null) answer.reject(error);
    });
    try {
      await answer.promise;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  end(): void {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), endLimit);
    timer.unref();
    void this.ended.then(() => clearTimeout(timer));
  }
}

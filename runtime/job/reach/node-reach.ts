/**
 * Connects a driver to the nodes of its job: by their names if the network leads to them, and otherwise through the login node. A driver on a
 * laptop usually reaches the login node alone.
 */
import type { DialHost } from "../kernel.js";
import { forwardPort } from "../ssh/forward/forward-port.js";
import { type AskedHost, connectOnce, waitForAnswer } from "./answering-hosts.js";
import { canConnect } from "./can-connect.js";
import type { LoginCommands } from "./login-commands.js";
import { LoginProbe } from "./login-probe.js";

/** The way by which a driver reaches nodes. Null: the driver finds out with the first of them, if there is a login node. */
export type NodeReachChoice = "direct" | "ssh" | null;

export class NodeReach {
  readonly #login: string | null;
  readonly #probe: LoginProbe;
  #deciding: Promise<void> | undefined;
  #isDirect: boolean | undefined;

  /** @param login the login node; null if this program is in the network of the nodes */
  constructor(login: string | null, choice: NodeReachChoice, commands: LoginCommands) {
    this.#login = login;
    this.#probe = new LoginProbe(commands);
    if (login === null || choice !== null) this.#isDirect = login === null || choice === "direct";
  }

  /** Finds out how nodes are reached, unless that is known. */
  async decide({ node, port }: AskedHost): Promise<void> {
    if (this.#isDirect !== undefined) return;
    this.#deciding ??= canConnect(node, port).then((can) => {
      this.#isDirect = can;
    });
    await this.#deciding;
  }

  /** Returns how a port of a node is dialled; undefined if the driver dials its address. To be called after `decide`. */
  dialOf({ node, port }: AskedHost): DialHost | undefined {
    if (this.#login === null || this.#isDirect !== false) return undefined;
    const target = { machine: this.#login, sshOptions: [], host: node, port };
    return (signal) => forwardPort(target, signal);
  }

  /**
   * Resolves when a host accepts a connection.
   * @throws SilentHostError when `signal` is aborted before
   */
  async waitForAnswer(host: AskedHost, signal: AbortSignal): Promise<void> {
    await this.decide(host);
    const connect = this.#isDirect === true ? connectOnce : (asked: AskedHost) => this.#probe.ask(asked);
    const advice = this.#isDirect && this.#login !== null ? missedAdvice : "";
    await waitForAnswer(host, signal, { connect, advice });
  }
}

/** The advice for a driver that has taken another machine with the name of a node for the node. */
const missedAdvice = '; if this machine does not reach the nodes, use the option reach: "ssh"';

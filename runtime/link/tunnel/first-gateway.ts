/**
 * Chooses the driver gateway of a new tunnel. Gateways are tried in order: the next one when one cannot be reached, and beside
 * one that does not answer. The first that accepts a connection is used.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Clock, Timer } from "../clock.js";
import { HandshakeError } from "../handshake/errors.js";
import type { Pipe } from "../transport/pipe.js";

/** The time limit of one attempt to reach a gateway, in milliseconds. */
const CONNECT_LIMIT_MS = 10_000;

/**
 * The time after which a gateway that has not answered is not waited for alone, in milliseconds: it is asked whether it still
 * works, and another one is tried beside it.
 */
export const ANSWER_LIMIT_MS = 2500;

/** A host through which a driver can reach others. */
export interface TunnelGateway {
  /** The address, for errors. It tells gateways apart. */
  readonly name: string;
  /** Makes a connection to the gateway that has asked for a tunnel. `signal` aborts the attempt. */
  connect(signal: AbortSignal): Promise<Pipe>;
}

/** An attempt to reach a gateway that has failed. */
export interface GatewayFailure {
  /** The address of the gateway. */
  readonly name: string;
  readonly error: Error;
}

/** The outcome of attempts to reach one of several gateways. */
export interface GatewayAttempts<G> {
  /** The gateway that was reached first, and a connection that has asked it for a tunnel. Undefined: none was reached. */
  readonly reached: { readonly gateway: G; readonly pipe: Pipe } | undefined;
  /** The attempts that have failed before, in the order of the gateways. */
  readonly failures: readonly GatewayFailure[];
}

/** Connects to the first of the gateways that can be reached. Never rejects. */
export function connectToFirst<G extends TunnelGateway>(
  clock: Clock,
  gateways: readonly G[],
): Promise<GatewayAttempts<G>> {
  return new FirstGateway(clock, gateways).result;
}

class FirstGateway<G extends TunnelGateway> {
  readonly result: Promise<GatewayAttempts<G>>;
  readonly #clock: Clock;
  readonly #gateways: readonly G[];
  readonly #failures: (GatewayFailure | undefined)[] = [];
  readonly #attempts = new Set<AbortController>();
  #resolve: (attempts: GatewayAttempts<G>) => void = () => {};
  #tried = 0;
  #isOver = false;
  #patience: Timer | undefined;

  constructor(clock: Clock, gateways: readonly G[]) {
    this.#clock = clock;
    this.#gateways = gateways;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (gateways.length > 0) this.#tryNext();
    else this.#resolve({ reached: undefined, failures: [] });
  }

  #tryNext(): void {
    this.#patience?.cancel();
    const index = this.#tried++;
    const gateway = this.#gateways[index]!;
    const isLast = this.#tried === this.#gateways.length;
    this.#patience = isLast ? undefined : this.#clock.after(ANSWER_LIMIT_MS, () => this.#tryNext());
    const giveUp = new AbortController();
    const late = new HandshakeError("lost", `it did not answer within ${CONNECT_LIMIT_MS} ms`);
    const timer = this.#clock.after(CONNECT_LIMIT_MS, () => giveUp.abort(late));
    this.#attempts.add(giveUp);
    const ended = () => {
      timer.cancel();
      this.#attempts.delete(giveUp);
    };
    gateway.connect(giveUp.signal).then(
      (pipe) => {
        ended();
        this.#reached(gateway, pipe);
      },
      (error: Error) => {
        ended();
        this.#failed(index, { name: gateway.name, error });
      },
    );
  }

  #reached(gateway: G, pipe: Pipe): void {
    if (this.#isOver) {
      pipe.destroy();
      return;
    }
    this.#isOver = true;
    this.#patience?.cancel();
    const reason = new Error(`the driver gateway ${gateway.name} was reached sooner`);
    for (const other of this.#attempts) other.abort(reason);
    this.#resolve({ reached: { gateway, pipe }, failures: this.#known });
  }

  #failed(index: number, failure: GatewayFailure): void {
    if (this.#isOver) return;
    this.#failures[index] = failure;
    if (this.#tried < this.#gateways.length) this.#tryNext();
    else if (this.#attempts.size === 0) {
      this.#isOver = true;
      this.#resolve({ reached: undefined, failures: this.#known });
    }
  }

  get #known(): GatewayFailure[] {
    return this.#failures.filter((failure) => failure !== undefined);
  }
}

/** Describes why gateways were not reached, without their names if there is one alone, or one reason for all of them. */
export function describeFailures(failures: readonly GatewayFailure[]): string {
  if (failures.length === 0) return "no host is known that could be one";
  const reasons = new Set(failures.map(({ error }) => errorMessage(error)));
  if (reasons.size === 1) return [...reasons][0]!;
  return failures.map(({ name, error }) => `${name}: ${errorMessage(error)}`).join("; ");
}

/**
 * Makes the error of gateways none of which was reached. It is final only if each of them refuses for good.
 * @param mayChange whether refusals are not final, because another host may take the place of the gateway
 */
export function unreachableError(failures: readonly GatewayFailure[], mayChange: boolean): Error {
  const which = failures.length === 1 ? `the driver gateway ${failures[0]!.name}` : "any driver gateway";
  const text = `cannot reach ${which}: ${describeFailures(failures)}`;
  const { error } = failures.find(({ error }) => !isFinal(error)) ?? failures[0] ?? { error: undefined };
  if (error === undefined || (mayChange && isFinal(error))) return new HandshakeError("lost", text, { cause: error });
  if (error instanceof HandshakeError) return new HandshakeError(error.reason, text, { cause: error });
  return withCode(new Error(text, { cause: error }), (error as { code?: unknown }).code);
}

function isFinal(error: Error): boolean {
  return error instanceof HandshakeError && !error.isTransient;
}

/** Adds the code of the system to an error, if there is one. */
export function withCode(error: Error, code: unknown): Error {
  return code === undefined ? error : Object.assign(error, { code });
}

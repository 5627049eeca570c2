import { setImmediate as nextTurn } from "node:timers/promises";
import type { BenchRecord } from "../generated/echo.js";
import { CellActor, GaugeActor, SinkActor, type Usage } from "../generated/gauge.js";
import { usage } from "./usage.js";

export class MemoryGauge extends GaugeActor {
  usage(): Usage {
    return usage();
  }
}

export class SlowSink extends SinkActor {
  #taken = 0;

  async take(_record: BenchRecord): Promise<void> {
    await nextTurn();
    this.#taken++;
  }

  taken(): number {
    return this.#taken;
  }
}

export class NumberCell extends CellActor {
  readonly #value: number;

  constructor(value: number) {
    super();
    this.#value = value;
  }

  value(): number {
    return this.#value;
  }
}

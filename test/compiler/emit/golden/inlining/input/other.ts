export type Rank = "first" | "second";

export interface Elsewhere {
  name: string;
}

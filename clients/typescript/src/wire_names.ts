/** `budget_tokens` as `budgetTokens`. */
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Name of an option: `task_id` is `task`, `budget_tokens` is `budgetTokens`. */
export type OptionName<Name extends string> = Name extends `${infer Head}_id` ? CamelCase<Head> : CamelCase<Name>;

/** Options in camel case, derived from the fields of a request; `Omitted` fields are passed in another way. */
export type OptionsOf<Fields, Omitted extends string = never> = {
  [Name in keyof Fields as Name extends Omitted ? never : OptionName<Name & string>]: object extends Pick<Fields, Name>
    ? Exclude<Fields[Name], null> | undefined
    : Exclude<Fields[Name], null>;
};

const ID_OPTIONS = new Set(["task", "agent", "session"]);

/** Returns the field name of an option. */
export function toFieldName(option: string): string {
  if (ID_OPTIONS.has(option)) return `${option}_id`;
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the fields of options; undefined values and the options of the client itself are left out. */
export function toFields(options: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value !== undefined && !CLIENT_OPTIONS.has(name)) fields[toFieldName(name)] = value;
  }
  return fields;
}

/** Names of the options that concern the sending of a request: the keys of `SendOptions`. */
const CLIENT_OPTIONS = new Set(["signal", "timeoutMs", "retries", "idempotencyKey"]);

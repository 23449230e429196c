#!lua flags=no-writes
-- The answers that a run waits for.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2... questions
-- Returns an answer as JSON for each, '' for one that is open
local answers = {}
for i = 2, #ARGV do
  answers[i - 1] = redis.call('HGET', key_inputs(ARGV[1]), ARGV[i] .. ':answer') or ''
end
return answers

#!lua flags=no-writes
-- How many questions stand: the safety re-read of who waits for their answers.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  id and question of each
-- Returns a state for each, '' for what is no question
local states = {}
for i = 1, #ARGV, 2 do
  states[#states + 1] = redis.call('HGET', key_inputs(ARGV[i]), ARGV[i + 1] .. ':state') or ''
end
return states

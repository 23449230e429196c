#!lua flags=no-writes
-- Whether a stream that its client lost may be gone on with: its request was not cancelled (L-07).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 stream, 2 id of its task
-- Returns 1 or 0
if redis.call('HEXISTS', key_stream(ARGV[1]), 'unwanted') == 1 then
  return 0
end
return 1 - redis.call('HEXISTS', key_task(ARGV[2]), 'unwanted')

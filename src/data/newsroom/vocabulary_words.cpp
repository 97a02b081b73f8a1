// The word lists of the built-in newsroom. Some words stand in several themes on purpose: "draft", "court",
// "storm" or "current" mean different things to different desks, and a model has to learn that.

#include "data/newsroom/vocabulary.h"

namespace sotto::data::newsroom {
namespace {

constexpr RawCategory categories[] = {
    {"politics",
     "government policy official debate capital spokesman reform critics statement agenda",
     "elections government opinion",
     {{{"ballot voter turnout poll primary runoff precinct candidate campaign nominee debate canvass recount "
        "swing majority rally donor landslide",
        "concedes campaigns polls endorses nominates canvasses",
        "undecided incumbent narrow partisan contested"},
       {"senate committee amendment lawmaker chamber filibuster caucus statute motion legislature whip "
        "subpoena testimony hearing clause quorum bill veto",
        "votes amends repeals drafts sponsors blocks", "bipartisan legislative procedural stalled sweeping"},
       {"court judge ruling appeal verdict justice precedent lawsuit plaintiff injunction attorney jury "
        "docket tribunal brief defendant bench clerk",
        "rules overturns upholds sues appeals testifies",
        "unanimous constitutional federal landmark dissenting"},
       {"mayor council zoning ordinance budget borough pothole permit sanitation transit alderman precinct "
        "playground levy referendum curfew township downtown",
        "approves rezones funds paves petitions audits", "municipal local citywide vacant crumbling"}}}},
    {"world",
     "country region minister border nation envoy crisis talks foreign ambassador",
     "asia europe global",
     {{{"treaty summit embassy diplomat sanctions accord delegation alliance ceasefire negotiator communique "
        "protocol envoy bloc pact mediation consulate visa",
        "negotiates ratifies mediates signs condemns brokers",
        "bilateral diplomatic multilateral tense neutral"},
       {"refugee convoy shelter camp migrant aid famine asylum crossing relief blanket volunteer corridor "
        "tent displacement ration clinic coastguard",
        "flees shelters rescues evacuates resettles delivers",
        "stranded displaced humanitarian desperate crowded"},
       {"troops missile brigade airstrike drone frontline artillery general garrison navy battalion radar "
        "trench arsenal offensive militia fighter weapon",
        "shells advances retreats fires patrols deploys", "armed strategic besieged military fortified"},
       {"pilgrim monarch palace parade festival heritage temple shrine coronation throne dialect prince "
        "ritual ruins procession lantern dynasty monument",
        "crowns unveils restores commemorates parades bows", "royal ancient sacred ceremonial colonial"}}}},
    {"business",
     "company chief industry executive workers firm customers profit board manager",
     "companies work economy",
     {{{"merger startup founder acquisition takeover stake venture shareholder valuation bid buyout investor "
        "boardroom unicorn pitch subsidiary deal spinoff",
        "acquires merges invests bids launches restructures",
        "hostile private lucrative ambitious strategic"},
       {"union strike wage payroll layoff picket contract overtime pension workplace shift foreman "
        "bargaining apprentice recruiter benefits warehouse severance",
        "strikes hires unionises bargains resigns rehires", "unpaid hourly skilled remote seasonal"},
       {"retailer mall checkout discount shopper store brand aisle coupon inventory cashier bargain outlet "
        "catalogue parcel storefront supermarket receipt",
        "sells stocks discounts ships rebrands restocks", "cheap wholesale loyal festive overpriced"},
       {"factory tariff supply cargo port freight container export import steel assembly logistics textile "
        "quota shipment dock conveyor foundry",
        "exports manufactures imports assembles unloads reroutes", "industrial heavy domestic idle bulk"}}}},
    {"markets",
     "money price market bank analyst rate growth quarter forecast percent",
     "stocks personalfinance economy",
     {{{"stock index trader share rally dividend portfolio bull bear earnings broker exchange futures "
        "volatility hedge ticker listing selloff",
        "surges plunges trades rebounds slides closes", "volatile bullish bearish overvalued record"},
       {"inflation recession treasury deficit yield bond reserve stimulus governor currency unemployment "
        "output policy debt austerity surplus consumer tightening",
        "tightens eases slows contracts expands hikes", "fiscal monetary sluggish economic inflationary"},
       {"retirement savings mortgage loan credit pension budget annuity nest insurance refinance lender debt "
        "account interest premium deposit nestegg",
        "saves borrows repays refinances insures budgets", "monthly fixed affordable overdue secured"},
       {"oil barrel crude pipeline refinery gold copper wheat harvest commodity drilling rig gasoline mine "
        "ore silver lithium quota",
        "drills mines pumps refines hoards extracts", "raw offshore scarce precious refined"}}}},
    {"sports",
     "team season coach player league game fans win club championship",
     "football more_sports olympics",
     {{{"quarterback touchdown lineman playoff receiver kickoff huddle fumble linebacker helmet draft roster "
        "stadium interception blitz tackle scrimmage endzone",
        "tackles passes punts rushes drafts sacks", "offensive defensive rookie injured undefeated"},
       {"striker goalkeeper midfielder penalty derby transfer fixture header pitch winger referee equaliser "
        "relegation corner offside cup dribble defender",
        "scores dribbles equalises transfers saves heads", "goalless clinical promoted veteran home"},
       {"racket serve tournament set court umpire forehand backhand doubles wimbledon seed deuce baseline "
        "volley fairway golfer putt birdie",
        "serves volleys putts swings defeats withdraws", "unseeded grass clay straight amateur"},
       {"marathon sprinter medal relay swimmer hurdle gymnast cyclist podium peloton javelin triathlon "
        "stopwatch vault rower skater slalom lap",
        "sprints races vaults pedals swims medals", "olympic fastest breathless aerobic endurance"}}}},
    {"health",
     "doctor patients study research hospital risk people medical experts care",
     "medical wellness fitness",
     {{{"vaccine virus outbreak infection flu symptom booster epidemic quarantine mask antibody strain fever "
        "clinic variant contagion immunity pathogen",
        "infects vaccinates spreads mutates isolates tests",
        "contagious viral infectious seasonal asymptomatic"},
       {"workout yoga muscle treadmill squat stretch trainer gym cardio dumbbell posture plank calorie jog "
        "barbell stamina pilates rep",
        "lifts stretches jogs trains sweats squats", "lean toned flexible athletic sore"},
       {"anxiety therapy depression stress mood sleep insomnia counselor mindfulness burnout trauma "
        "therapist meditation loneliness grief panic addiction psychiatrist",
        "copes meditates heals soothes counsels listens", "mental emotional anxious restless mindful"},
       {"surgeon tumor transplant heart cancer kidney artery biopsy stroke diabetes insulin scan "
        "chemotherapy cardiologist dose prescription pharmacy cholesterol",
        "operates diagnoses prescribes treats scans transplants",
        "chronic surgical malignant cardiac rare"}}}},
    {"science",
     "scientists study discovery university researchers evidence data theory laboratory experiment",
     "space environment discoveries",
     {{{"rocket astronaut orbit telescope galaxy moon comet asteroid launchpad satellite crater nebula "
        "planet spacecraft lander eclipse capsule observatory",
        "orbits launches lands observes docks collides", "lunar solar distant interstellar cosmic"},
       {"glacier carbon emission reef warming rainforest drought biodiversity coral wetland methane "
        "conservation sediment habitat permafrost ecosystem deforestation kelp",
        "melts warms conserves pollutes thaws absorbs", "endangered rising ecological polar sustainable"},
       {"fossil dinosaur excavation skeleton tomb mammoth relic archaeologist pottery burial skull cave "
        "artifact mummy amber predator extinction ruins",
        "digs unearths excavates buries dates deciphers", "prehistoric extinct ancient buried jurassic"},
       {"gene protein cell neuron molecule enzyme genome microscope bacteria mutation embryo particle "
        "quantum photon collider isotope electron catalyst",
        "sequences splits edits measures replicates binds",
        "genetic molecular subatomic microscopic synthetic"}}}},
    {"technology",
     "users device company software digital online feature internet tool launch",
     "gadgets internet software",
     {{{"smartphone laptop battery screen camera tablet headset charger keyboard earbuds wearable chip "
        "display processor pixel gadget smartwatch lens",
        "charges upgrades unboxes reboots syncs scrolls", "wireless foldable sleek portable waterproof"},
       {"hacker password breach malware encryption firewall phishing ransom leak botnet surveillance privacy "
        "exploit spyware patch identity cyberattack login",
        "hacks leaks encrypts patches spies exposes", "anonymous stolen secure malicious vulnerable"},
       {"algorithm robot chatbot neural automation prompt model training dataset prediction cloud compute "
        "code programmer developer server machine vision",
        "learns automates predicts codes generates computes",
        "artificial intelligent autonomous robotic generative"},
       {"gamer console esports quest level multiplayer controller arcade avatar streamer joystick expansion "
        "dungeon speedrun pixel lobby loot sequel",
        "plays streams unlocks respawns levels conquers", "virtual immersive retro playable animated"}}}},
    {"travel",
     "visitors trip destination guide tourists journey holiday traveler summer photos",
     "trips destinations airlines",
     {{{"airline flight runway passenger luggage pilot terminal boarding cabin delay airport turbulence "
        "stewardess seat layover gate baggage jet",
        "flies boards lands delays cancels grounds", "nonstop delayed budget overbooked airborne"},
       {"beach island resort snorkel lagoon cruise hammock palm surf sand cove harbor yacht tide bay reef "
        "shore ferry",
        "sails surfs snorkels anchors drifts basks", "tropical sandy secluded turquoise sunny"},
       {"trail summit hiker backpack canyon campfire ridge waterfall ranger wilderness tent cliff meadow "
        "peak boulder forest cabin wolf",
        "hikes climbs camps treks wanders paddles", "rugged scenic alpine remote wild"},
       {"museum cathedral plaza hostel itinerary landmark alley boulevard gallery cafe tram canal skyline "
        "neighborhood mosaic fountain bridge market",
        "strolls explores tours browses lingers sketches", "historic cobbled charming medieval bustling"}}}},
    {"food",
     "recipe kitchen taste dinner chef menu flavor ingredients meal table",
     "recipes restaurants drinks",
     {{{"dough cake frosting oven pastry cookie flour butter pie vanilla chocolate crust cupcake whisk "
        "batter muffin sourdough yeast",
        "bakes kneads frosts sifts glazes whips", "sweet buttery flaky golden gooey"},
       {"grill steak brisket barbecue rib marinade smoker bacon burger sausage charcoal skewer pork bun "
        "butcher rub sear coleslaw",
        "grills smokes sears marinates carves roasts", "smoky juicy tender charred crispy"},
       {"salad vegan lentil kale tofu quinoa avocado chickpea smoothie broccoli mushroom bean spinach herb "
        "tomato squash beet almond",
        "chops blends tosses steams sprouts ferments", "leafy organic vegetarian crunchy raw"},
       {"wine vineyard cocktail brewery whiskey espresso barista tasting sommelier bartender ale cellar "
        "grape gin hops bourbon latte cork",
        "pours brews sips ferments distills ages", "bitter aged bold sparkling fruity"}}}},
    {"autos",
     "car driver road vehicle model brand engine drivers maker street",
     "cars motorsport commuting",
     {{{"sedan hatchback suv horsepower dashboard trim showroom dealer mileage torque transmission wheelbase "
        "windshield interior upholstery convertible pickup tailgate",
        "accelerates steers handles brakes revs corners", "sporty spacious turbocharged compact luxury"},
       {"battery charger range plug kilowatt hybrid electric charging grid lithium motor station emission "
        "cell hydrogen outlet socket adapter",
        "charges plugs recharges powers converts coasts", "electric hybrid silent efficient rechargeable"},
       {"lap pitstop circuit pole chicane paddock grid helmet tire podium racer speedway checkered stewards "
        "crash overtaking oval qualifying",
        "overtakes qualifies crashes laps pits drifts", "fastest reckless championship rear wet"},
       {"traffic commute toll highway pothole lane parking bus cyclist crosswalk congestion rail "
        "intersection detour pedestrian bridge speeding ramp",
        "reroutes merges stalls tows widens commutes", "congested gridlocked elevated suburban rush"}}}},
    {"movies",
     "film director actor screen scene studio audience role story premiere",
     "cinema awards celebrity",
     {{{"superhero sequel villain franchise cape blockbuster trailer comic reboot spinoff stunt universe "
        "explosion crossover mutant hero costume saga",
        "battles reboots avenges explodes teases rescues", "epic animated masked explosive invincible"},
       {"oscar nominee ceremony festival screenplay jury statuette cinematography auteur drama monologue "
        "snub ballot critic category ovation acclaim subtitles",
        "wins nominates directs applauds honors adapts", "acclaimed best independent nominated arthouse"},
       {"ghost haunting slasher vampire zombie scream nightmare demon thriller curse possession exorcist "
        "attic killer mask chainsaw werewolf coven",
        "haunts screams stalks possesses terrifies lurks", "creepy haunted bloody eerie sinister"},
       {"romance wedding heartbreak comedy kiss bridesmaid laughter soulmate meetcute ex crush duo sitcom "
        "chemistry proposal rom joke prank",
        "falls kisses laughs charms proposes pranks", "romantic hilarious awkward heartfelt quirky"}}}},
    {"television",
     "show episode series season network viewers cast host star channel",
     "shows streaming reality",
     {{{"detective finale cliffhanger showrunner spoiler plot pilot antihero mystery cartel murder suspect "
        "binge flashback twist heist informant sergeant",
        "investigates betrays murders solves renews twists", "gritty gripping suspenseful serialized dark"},
       {"contestant rose elimination villa housewife bachelor judge immunity dating reunion confessional "
        "finalist mansion alliance bachelorette drama jury tribe",
        "eliminates dumps flirts competes feuds confesses", "fake scripted jealous single outrageous"},
       {"monologue comedian sketch punchline satire skit interview desk impression standup joke roast "
        "correspondent laugh parody heckler audience late",
        "jokes mocks interviews roasts impersonates riffs", "funny satirical nightly deadpan witty"},
       {"dragon throne kingdom wizard prophecy sword spaceship starship fantasy galaxy clone portal timeline "
        "alien quest prequel lore knight",
        "conquers betrays reigns teleports awakens prophesies",
        "medieval magical dystopian cursed immortal"}}}},
    {"music",
     "song album artist fans stage tour band record sound release",
     "popmusic concerts charts",
     {{{"pop chart single chorus diva remix choreography playlist hit debut idol lipsync glitter teen video "
        "dancer duet hook",
        "debuts dances tops remixes croons twirls", "catchy viral upbeat platinum sugary"},
       {"guitar riff drummer amplifier punk metal bassist reunion garage encore grunge mosh vinyl distortion "
        "frontman solo festival roadie",
        "shreds rocks headlines drums reunites jams", "loud raw legendary acoustic heavy"},
       {"rapper verse mixtape beat freestyle lyric flow turntable feud producer cypher hook sample bars "
        "label mogul diss rhyme",
        "raps freestyles samples disses drops rhymes", "underground explicit lyrical hard street"},
       {"orchestra symphony violin conductor opera soprano cello concerto ballet aria pianist overture "
        "recital choir quartet maestro composer flute",
        "conducts composes performs sings rehearses plays",
        "classical operatic baroque orchestral virtuoso"}}}},
    {"lifestyle",
     "family home love life style friends tips women advice moment",
     "style parenting relationships",
     {{{"runway designer gown handbag sneaker denim couture stiletto fabric model wardrobe jacket silhouette "
        "hemline accessory lace sequin blazer",
        "wears designs tailors models dazzles styles", "chic vintage elegant bold trendy"},
       {"toddler baby parent newborn diaper daycare bedtime mom tantrum stroller grandparent crib lullaby "
        "kindergarten sibling playdate nap teen",
        "nurses raises scolds cuddles adopts giggles", "sleepy stubborn pregnant expectant playful"},
       {"horoscope zodiac tarot astrology retrograde moon crystal leo scorpio destiny aura ritual omen "
        "eclipse fortune psychic gemini pisces",
        "predicts aligns foretells manifests reveals warns", "cosmic lucky mystical rising spiritual"},
       {"puppy kitten rescue leash shelter vet paw breed collar adoption kennel whisker terrier hamster bark "
        "parrot groomer litter",
        "adopts barks fetches purrs rescues wags", "fluffy adorable furry stray loyal"}}}},
    {"homes",
     "house room owner space design garden neighbors building apartment residents",
     "property decor gardening",
     {{{"listing realtor mortgage buyer condo mansion closing escrow bidding tenant landlord rent penthouse "
        "appraisal foreclosure acreage suburb lease",
        "lists sells rents evicts buys appraises", "pricey spacious vacant affordable waterfront"},
       {"sofa wallpaper lamp rug cushion paint tile shelf curtain backsplash renovation mirror countertop "
        "velvet palette chandelier fireplace drape",
        "decorates paints renovates arranges declutters redesigns", "cozy modern minimalist rustic airy"},
       {"seedling compost tulip pruning greenhouse soil rose mulch lawn shrub perennial trellis orchard weed "
        "petal hedge hydrangea bulb",
        "plants prunes waters blooms weeds harvests", "lush potted fragrant blooming shady"},
       {"drill plumber leak hammer insulation roof gutter contractor lumber wrench drywall furnace basement "
        "ladder nail plywood faucet mold",
        "repairs installs hammers drains seals fixes", "leaky rusty sturdy handy drafty"}}}},
    {"weather",
     "forecast storm area residents temperature officials warning weekend sky county",
     "forecasts disasters seasons",
     {{{"hurricane cyclone surge landfall levee evacuation gust typhoon rainfall category eye sandbag "
        "generator flooding outage shelter coastline track",
        "floods batters evacuates strengthens drenches weakens",
        "tropical torrential coastal powerful stranded"},
       {"blizzard snow ice plow sleet frost windchill icicle drift shovel salt flurry avalanche slush freeze "
        "snowman chill parka",
        "snows freezes shovels plows blankets shivers", "icy frigid slippery snowy arctic"},
       {"wildfire smoke blaze ember drought heatwave containment brush firefighter evacuation arson flame "
        "acre haze ash helicopter hydrant scorch",
        "burns scorches smolders spreads contains ignites", "dry scorching smoky parched uncontrolled"},
       {"tornado earthquake tremor funnel aftershock siren magnitude debris rubble lightning hail thunder "
        "fault volcano lava eruption twister crater",
        "shakes erupts twists rattles strikes levels", "seismic severe violent volcanic damaging"}}}},
};

}  // namespace

std::span<const RawCategory> raw_categories() { return categories; }

}  // namespace sotto::data::newsroom
